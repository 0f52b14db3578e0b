import { randomBytes } from 'node:crypto';
import { samplePayout } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import { createMerchantClient, type Stack } from '@pesewa/stack';
import { MongoClient } from 'mongodb';
import type { Bench } from './bench.ts';
import { copyPayment } from './payment-copies.ts';
import { against, quantile, type Row } from './rows.ts';
import { openSharedStack } from './shared-stack.ts';

const PAYMENTS = 1_000_000;
const ROUNDS = 60;
/** Services that run compile what is asked often; a page is not judged by its first requests. */
const WARM_UP_ROUNDS = 20;
/** What a page may take. */
const PAGE_MS_MAX = 100;

/** How long pages of the console take with a million payments behind them. */
export const benchConsole: Bench = async (options) => {
  const { infrastructure, log } = options;
  log(`pages of the console, with ${PAYMENTS.toLocaleString('en')} payments behind them`);
  await using stack = await openSharedStack(options, { hasConsole: true });
  const paid = await payOnce(stack);
  await using client = await new MongoClient(infrastructure.env.MONGODB_URL).connect();
  await copyPayment({ client, ...paid, copies: PAYMENTS - 1, log });
  const read = await signIn(stack);
  const { merchantId, reference, merchantReference } = paid;
  const pages = [
    '/',
    '/money',
    '/payments',
    `/payments?merchant=${merchantId}`,
    '/payments?status=open',
    `/payments/${reference}`,
    `/search?q=${merchantReference}`,
    '/breaks',
    '/approvals',
    '/reconciliation',
    '/ledger',
    `/ledger/accounts/wallet:${merchantId}:GHS`,
    '/webhooks',
    `/webhooks?merchant=${merchantId}`,
    '/merchants',
    `/merchants/${merchantId}`,
    '/rails',
    '/rails/upstream',
    '/actions',
  ];
  const rows: Row[] = [];
  for (const path of pages) {
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await read(path);
    const tookMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) tookMs.push(await read(path));
    const name = path.replace(reference, '<reference>').replace(merchantReference, '<theirs>');
    rows.push(
      against({
        name: `console ${name}`,
        value: Math.round(quantile(tookMs, 0.95)),
        unit: 'ms',
        floor: PAGE_MS_MAX,
        ratioMax: 1,
        detail: `p95 of ${ROUNDS}, p50 ${Math.round(quantile(tookMs, 0.5))} ms`,
      }),
    );
  }
  return rows;
};

/** One payout from request to webhook, which every service knows. */
export async function payOnce(stack: Stack) {
  const { transferUrl, collectionsUrl, merchants } = stack.runFile();
  const { id: merchantId = '', publicKey = '' } = merchants[0] ?? {};
  const merchant = createMerchantClient({ transferUrl, collectionsUrl, publicKey });
  const merchantReference = `bench-${randomBytes(4).toString('hex')}`;
  const terms = { reference: merchantReference, amount: '100', digits: '9999' };
  await merchant.requestPayout(samplePayout('GH', terms));
  const reference = await waitUntil('the payout', 60_000, async () => {
    const { responseData } = await merchant.lookUpPayout(merchantReference);
    if (responseData?.transactionStatus !== 'COMPLETED')
      throw new Error(`it is ${responseData?.transactionStatus ?? 'unknown'}`);
    return responseData.transactionReference;
  });
  return { merchantId, merchantReference, reference };
}

/** Signs in, and gives what loads a page and says how many milliseconds it took. */
async function signIn(stack: Stack): Promise<(path: string) => Promise<number>> {
  const { consoleUrl = '', operatorToken } = stack.runFile();
  const answer = await fetch(`${consoleUrl}/sign-in`, {
    method: 'POST',
    headers: { origin: new URL(consoleUrl).origin },
    body: new URLSearchParams({ token: operatorToken, next: '/' }),
    redirect: 'manual',
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  return async (path) => {
    const startedMs = performance.now();
    const page = await fetch(`${consoleUrl}${path}`, { headers: { cookie }, redirect: 'manual' });
    const text = await page.text();
    if (page.status !== 200 && page.status !== 303) throw new Error(`${path}: ${page.status}`);
    if (text.includes('Not available')) throw new Error(`${path}: a service gave no answer`);
    return performance.now() - startedMs;
  };
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { createLogger, parseConfig, serveHttp } from '@pesewa/runtime';
import { Hono } from 'hono';
import { settings } from './config.ts';
import { openSimulator } from './simulator.ts';

const KEY = Buffer.from('hub-public-key').toString('base64');
const DEADLINE_MS = 5_000;
const LOOK_EVERY_MS = 5;
const QUICK_MS = '20';

/** Waits for a condition with a deadline; gives its value. */
export async function eventually<Value>(
  look: () => Value | undefined | Promise<Value | undefined>,
): Promise<Value> {
  const endMs = systemClock.nowMs() + DEADLINE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (systemClock.nowMs() > endMs) throw new Error('the condition did not come true in time');
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}

/** A simulator on its own files, with a client that receives its callbacks; its time can be set forward. */
export async function startSimulator(given: Readonly<Record<string, string>> = {}) {
  await using opened = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'simulator-'));
  opened.defer(() => rm(directory, { recursive: true }));
  const callbacks: string[] = [];
  const callbackHeaders: Record<string, string>[] = [];
  const client = new Hono().post('/:kind', async (context) => {
    callbackHeaders.push(context.req.header());
    callbacks.push(await context.req.text());
    return context.text('ok');
  });
  const { port } = opened.use(await serveHttp({ app: client, host: '127.0.0.1', port: 0 }));
  const config = parseConfig(settings, {
    OPERATOR_TOKEN: '0123456789abcdef',
    CALLBACK_DELAY_MS: QUICK_MS,
    CUSTOMER_DELAY_MS: QUICK_MS,
    CALLBACK_PAYOUTS_URL: `http://127.0.0.1:${port}/payouts`,
    CALLBACK_COLLECTIONS_URL: `http://127.0.0.1:${port}/collections`,
    JOURNAL_FILE: join(directory, 'journal.jsonl'),
    ...given,
  });
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const ids = createIds(clock, systemRandom);
  const logger = createLogger({ name: 'provider-simulator', level: 'silent' });
  const open = () =>
    openSimulator({
      config,
      clock,
      ids,
      logger,
      onBroken: (error) => {
        throw error;
      },
    });
  let simulator = await open();
  opened.defer(() => simulator[Symbol.asyncDispose]());
  const resources = opened.move();
  const request = async (path: string, init?: RequestInit) => simulator.app.request(path, init, {});
  return {
    callbacks,
    callbackHeaders,
    request,
    app: () => simulator.app,
    releaseHeld: () => simulator.releaseHeld(),
    setForward: (durationMs: number) => {
      aheadMs += durationMs;
    },
    restart: async () => {
      await simulator[Symbol.asyncDispose]();
      simulator = await open();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** A request of the control API, read. */
export async function control(
  { request }: { readonly request: (path: string, init?: RequestInit) => Promise<Response> },
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const headers = { 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await request(`/control/${path}`, init);
  return { status: answer.status, body: await answer.json() };
}

/** A single payout to an account that ends with these digits. */
export function payoutRequest(reference: string, digits: string, key = KEY) {
  const beneficiary = { accountName: 'A', accountNumber: `77${digits}`, bankCode: '68', amount: 100.5 };
  const body = {
    transactionReference: reference,
    country: 'Kenya',
    currency: 'KES',
    channel: 'Bank Transfer',
    transactionType: '1',
    beneficiary,
    sender: { name: 'S', email: 's@example.com', countryCode: 'KEN', currencyCode: 'KES' },
  };
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  return { method: 'POST', headers, body: JSON.stringify(body) } as const;
}

/** A batch of payouts of 100.50 each without conditional fields; each item has its reference and digits. */
export function batchRequest(
  reference: string,
  items: readonly { readonly reference: string; readonly digits: string }[],
  changes: Readonly<Record<string, unknown>> = {},
) {
  const beneficiaries = items.map((item) => ({
    accountName: 'A',
    accountNumber: `77${item.digits}`,
    bankCode: '68',
    amount: 100.5,
    transactionReference: item.reference,
  }));
  const body = {
    transactionReference: reference,
    country: 'Kenya',
    currency: 'KES',
    channel: 'Bank Transfer',
    totalAmount: 100.5 * items.length,
    sender: { name: 'S', phoneNumber: '', email: 's@example.com' },
    beneficiaries,
    ...changes,
  };
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  return { method: 'POST', headers, body: JSON.stringify(body) } as const;
}

/** The path of batches of payouts. */
export const bulkPayout = '/api/v1/transactions/transfer/bulk';

/** The path of single payouts. */
export const singlePayout = '/api/v1/transactions/transfer/single';

/** The headers of a payout request without a body. */
export const payoutHeaders = { 'x-api-key': KEY };

interface CollectionRequest {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A payin or complete-payin of 100 in a mobile operator's currency, by a customer whose number ends with these digits. */
export function payinRequest(
  reference: string,
  mobileOperator: { readonly code: string; readonly country: string; readonly currency: string },
  extra: Readonly<Record<string, unknown>> = {},
  digits = '4321',
): CollectionRequest {
  const body = {
    requestHeader: { clientId: '', requestType: mobileOperator.country === 'GM' ? 'B' : 'Collections' },
    customerNumber: `77${digits}`,
    transactionReference: reference,
    transactionAmount: 100,
    transactionCurrency: mobileOperator.currency,
    transactionCountry: mobileOperator.country,
    transactionType: '1',
    operatorCode: mobileOperator.code,
    ...extra,
  };
  return collectionRequest(`100${reference}77${digits}`, body);
}

/** A status check of a collection. */
export function checkRequest(reference: string): CollectionRequest {
  const requestHeader = { clientId: '', requestType: 'GH-Collections' };
  return collectionRequest(reference, {
    requestHeader,
    transactionReference: reference,
    transactionCountry: 'GH',
  });
}

function collectionRequest(securityModule: string, body: object): CollectionRequest {
  const headers = {
    'x-module': Buffer.from(securityModule).toString('base64'),
    'x-business': KEY,
    'x-app': 'api',
    'content-type': 'application/json',
  };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

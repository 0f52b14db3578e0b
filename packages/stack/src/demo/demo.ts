import { waitUntil } from '@pesewa/infrastructure';
import type { CollectionRequest, MerchantClient, PayoutAnswer, PayoutRequest } from '../clients/merchant.ts';
import type { Stack } from '../services/stack.ts';

/** What the demo needs. */
export interface DemoDeps {
  readonly stack: Pick<Stack, 'simulator' | 'operator'>;
  readonly merchant: MerchantClient;
  readonly merchantId: string;
  /** Makes references unique among runs. */
  readonly run: string;
  readonly print: (line: string) => void;
}

const DEADLINE_MS = 90_000;

/** Runs the four scenarios of the demo, each step printed once it is true. */
export async function runDemo(deps: DemoDeps): Promise<void> {
  await payoutCompletes(deps);
  await collectionByOtpCompletes(deps);
  await lostCallbackIsPolled(deps);
  await walletsAgree(deps);
}

async function payoutCompletes(deps: DemoDeps): Promise<void> {
  const request = { reference: `demo-payout-${deps.run}`, amount: '2500.00', accountNumber: '0123459999' };
  deps.print('1. A payout that completes');
  const accepted = await submit(deps, request);
  deps.print(`   ✓ accepted with ${accepted.responseCode}: 2,500.00 NGN and our fee are to be held`);
  const reference = accepted.responseData?.transactionReference ?? '';
  await hasEntry(deps, reference, 'hold');
  deps.print('   ✓ the ledger holds amount and fee');
  await hasStatus(deps, request.reference, 'COMPLETED');
  deps.print('   ✓ the rail paid, its callback was checked with the rail, the payout is COMPLETED');
  await hasEntry(deps, reference, 'capture');
  await hasWebhook(deps, request.reference, 'COMPLETED');
  deps.print('   ✓ the hold is captured and the merchant has its signed webhook');
}

async function collectionByOtpCompletes(deps: DemoDeps): Promise<void> {
  const request: CollectionRequest = {
    reference: `demo-collection-${deps.run}`,
    amount: '150.00',
    operatorCode: 'GMQMO',
    currency: 'GMD',
    country: 'GM',
    customerNumber: '2203459999',
  };
  deps.print('2. A collection by OTP');
  const initiated = await persist('the collection gateway', async () => {
    const answer = await deps.merchant.initiateCollection(request);
    // After a lost answer the reference is taken by our own request, so the collection goes on.
    const known = answer.responseDetails.failedReason === 'DUPLICATE REFERENCE';
    if (answer.responseDetails.responseCode !== '09' && !known) throw new Error(JSON.stringify(answer));
    return answer;
  });
  deps.print(
    `   ✓ initiated with ${initiated.responseDetails.responseCode}: the customer gets an OTP of 6 digits`,
  );
  await persist('the collection gateway', async () => {
    const answer = await deps.merchant.completeCollection(request, '123456');
    const ended = answer.responseDetails.failedReason === 'COLLECTION CLOSED';
    if (answer.responseDetails.responseCode !== '09' && !ended) throw new Error(JSON.stringify(answer));
  });
  deps.print('   ✓ the OTP is passed on to the operator');
  await persist('the collection', async () => {
    const { responseMessage } = await deps.merchant.checkCollection(request);
    if (responseMessage !== 'COMPLETED') throw new Error(`it is ${responseMessage}`);
  });
  await hasWebhook(deps, request.reference, 'COMPLETED');
  deps.print('   ✓ the customer paid: COMPLETED, credited less our fee, webhook delivered');
}

async function lostCallbackIsPolled(deps: DemoDeps): Promise<void> {
  const request = { reference: `demo-lost-${deps.run}`, amount: '800.00', accountNumber: '0123450002' };
  deps.print('3. A payout whose callback never comes');
  await submit(deps, request);
  deps.print('   ✓ accepted; the rail pays and stays silent');
  await hasStatus(deps, request.reference, 'COMPLETED');
  await hasWebhook(deps, request.reference, 'COMPLETED');
  deps.print('   ✓ the reconciler asked the rail and finalised it: COMPLETED, webhook delivered');
}

async function walletsAgree(deps: DemoDeps): Promise<void> {
  deps.print("4. The rail's wallets against our float");
  const measured = await persist('the wallet comparison', async () => {
    await deps.stack.operator.compare();
    const drifts = await deps.stack.operator.drift();
    const off = drifts.filter(({ drift }) => drift !== '0');
    if (drifts.length === 0 || off.length > 0)
      throw new Error(off.map(({ currency, drift }) => `${currency} ${drift}`).join(', '));
    return drifts;
  });
  deps.print(`   ✓ drift 0 in ${measured.map(({ currency }) => currency).join(' ')}`);
}

/** Retries a step that is safe to repeat until it succeeds; a service that has just died is back in time. */
function persist<Value>(what: string, attempt: () => Promise<Value>): Promise<Value> {
  return waitUntil(what, DEADLINE_MS, attempt);
}

function submit(deps: DemoDeps, request: PayoutRequest): Promise<PayoutAnswer> {
  return persist('the payout gateway', async () => {
    const answer = await deps.merchant.requestPayout(request);
    if (answer.responseCode !== '09') throw new Error(`${answer.responseCode} ${answer.responseMessage}`);
    return answer;
  });
}

async function hasStatus(deps: DemoDeps, reference: string, status: string): Promise<void> {
  await persist(`the payout ${reference}`, async () => {
    const { responseData } = await deps.merchant.lookUpPayout(reference);
    if (responseData?.transactionStatus !== status)
      throw new Error(`it is ${responseData?.transactionStatus}`);
  });
}

async function hasEntry(deps: DemoDeps, reference: string, kind: string): Promise<void> {
  await persist(`the ledger's ${kind}`, async () => {
    const entries = await deps.stack.operator.entries(reference);
    if (!entries.some((entry) => entry['kind'] === kind)) throw new Error('no such entry yet');
  });
}

async function hasWebhook(deps: DemoDeps, reference: string, status: string): Promise<void> {
  await persist(`the webhook of ${reference}`, async () => {
    const webhooks = await deps.stack.simulator.received(deps.merchantId, reference);
    if (!webhooks.some(({ body }) => body.includes(`"${status}"`))) throw new Error('none received yet');
  });
}

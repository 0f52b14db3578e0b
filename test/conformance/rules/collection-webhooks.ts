import { parseJson } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { becomes, collections, expectPending } from '../collections.ts';
import { type Changes, matching, number } from '../conformance.ts';
import { customerIn, next, payinBody, withOtp } from './collection-requests.ts';
import { webhookBody } from './collection-shapes.ts';

/** Every webhook that a merchant received for a reference, parsed with the contract's strict shape. */
async function received(reference: string, merchantId = 'demo') {
  const all = await collections.scenario.stack.simulator.received(merchantId, reference);
  return all.map(({ body, headers, path }) => ({
    webhook: webhookBody.parse(parseJson(body)),
    headers,
    path,
    body,
  }));
}

/** Waits for the only webhook of a collection. */
function expectWebhook(reference: string, merchantId = 'demo') {
  return eventually(async () => {
    const all = await received(reference, merchantId);
    expect(all).toHaveLength(1);
    const [first] = all;
    if (!first) throw new Error('no webhook yet');
    return first;
  });
}

/** The time of a webhook, which is in UTC, in milliseconds (contract 10.15). */
const utc = (time: string): number => Date.parse(`${time.replace(' ', 'T')}Z`);

/** Initiates a collection and completes it if the flow needs that; returns both references. */
async function collect(operatorCode: string, changes: Changes = {}, key = collections.demoKey) {
  const reference = next('reported');
  const body = payinBody(reference, changes, operatorCode);
  const answer = await collections.payin(body, { key });
  const ours = expectPending(answer);
  if (answer.next['paymentCompletionRequired'] === true) {
    const otp = { '0': undefined, '4': '1234', '6': '123456' }[String(answer.next['lengthOfOtp'])];
    expectPending(await collections.complete(otp === undefined ? body : withOtp(body, otp), { key }));
  }
  return { reference, ours };
}

const ended: { readonly reference: string; readonly merchantId: string }[] = [];

describe.concurrent('contract 6.2: the webhook of a collection', () => {
  it.each([
    ['GMWAV', '250.75', 'GMD', '250.75', '3.76'],
    ['GMAFR', '0.01', 'GMD', '0.01', '0.01'],
    ['GMQMO', '100.50', 'GMD', '100.5', '1.51'],
    ['GHMTN', '12.34', 'GHS', '12.34', '0.19'],
    ['CIWAV', '5', 'XOF', '5', '1'],
    ['CIMTN', '1500', 'XOF', '1500', '23'],
    ['CIORA', '1e3', 'XOF', '1000', '15'],
    ['KESAF', '101', 'KES', '101', '1.52'],
  ])('COMPLETED: %s, %s %s: received %s, fee %s', async (operatorCode, amount, currency, exact, fee) => {
    const startedAtMs = Date.now();
    const { reference, ours } = await collect(operatorCode, { transactionAmount: number(amount) });
    const { webhook, headers, path } = await expectWebhook(reference);
    ended.push({ reference, merchantId: 'demo' });
    expect(webhook).toEqual({
      transaction_reference: ours,
      transaction_status: 'Funds Received',
      transaction_fee: fee,
      amount_received: exact,
      initiated_date: webhook.initiated_date,
      current_status_date: webhook.current_status_date,
      received_from: {},
      merchant_reference: reference,
      status: 'COMPLETED',
      channel: 'MOBILE_MONEY',
      currency_code: currency,
    });
    expect(path).toBe('/merchant/demo/collections');
    expect(headers).toMatchObject({ 'content-type': matching(/^application\/json/) });
    expect(utc(webhook.initiated_date)).toBeGreaterThanOrEqual(startedAtMs - 2_000);
    expect(utc(webhook.current_status_date)).toBeGreaterThanOrEqual(utc(webhook.initiated_date));
    expect(utc(webhook.current_status_date)).toBeLessThanOrEqual(Date.now() + 2_000);
    expect((await collections.check(reference)).code).toBe('00');
  });

  it.each(['GMWAV', 'GMAFR', 'GMQMO', 'GHVOD', 'CIMOO', 'CIORA', 'KESAF'])(
    'FAILED: %s: nothing received, no fee, and why',
    async (operatorCode) => {
      const customerNumber = customerIn(operatorCode.slice(0, 2), '0001');
      const { reference, ours } = await collect(operatorCode, { customerNumber });
      const { webhook } = await expectWebhook(reference);
      ended.push({ reference, merchantId: 'demo' });
      expect(webhook).toMatchObject({
        transaction_reference: ours,
        transaction_status: 'Transaction Failed',
        transaction_fee: '0',
        amount_received: '0',
        merchant_reference: reference,
        status: 'FAILED',
        failure_reason: matching(/./),
      });
      expect((await collections.check(reference)).code).toBe('06');
    },
  );

  it('keeps every digit of 89000000000000.01, which a float takes for …02', async () => {
    const { reference } = await collect('GMQMO', { transactionAmount: number('89000000000000.01') });
    const { webhook, body } = await expectWebhook(reference);
    expect(webhook).toMatchObject({
      amount_received: '89000000000000.01',
      transaction_fee: '1335000000000',
    });
    expect(body).toContain('"amount_received":89000000000000.01,');
  });

  it('goes to the webhookUrl of the request, else to the merchant’s own address', async () => {
    const { simulatorUrl } = collections.scenario.stack.runFile();
    const webhookUrl = `${simulatorUrl}/merchant/elsewhere/collections`;
    const { reference } = await collect('KESAF', { webhookUrl });
    await expectWebhook(reference, 'elsewhere');
    ended.push({ reference, merchantId: 'elsewhere' });
    expect(await received(reference)).toEqual([]);
  });
});

describe('contract 10.7: the fee by the merchant’s schedule', () => {
  it('fixed and percentage, minimum, maximum, rounded half up in minor units', async () => {
    const collectionFee = { fixedMinor: 25n, basisPoints: 100n, minimumMinor: 100n, maximumMinor: 500n };
    const key = await collections.addMerchant('priced', { collectionFee });
    const expected = {
      '1': '1',
      '75': '1',
      '75.49': '1',
      '75.50': '1.01',
      '100': '1.25',
      '475': '5',
      '90000': '5',
    };
    await Promise.all(
      Object.entries(expected).map(async ([amount, fee]) => {
        const { reference } = await collect('GHMTN', { transactionAmount: number(amount) }, key);
        const { webhook } = await expectWebhook(reference, 'priced');
        ended.push({ reference, merchantId: 'priced' });
        expect([amount, webhook.transaction_fee]).toEqual([amount, fee]);
      }),
    );
  });
});

describe.concurrent('invariant W3: one webhook per collection, ever', () => {
  it.each([
    ['callback three times', '0009', '00'],
    ['a callback before the answer', '0010', '00'],
    ['callbacks that contradict', '0011', '00'],
    ['no callback', '0002', '00'],
    ['no callback of a failure', '0003', '06'],
  ])('%s', async (_what, digits, code) => {
    const { reference } = await collect('CIMTN', { customerNumber: customerIn('CI', digits) });
    await becomes(reference, code);
    await expectWebhook(reference);
    ended.push({ reference, merchantId: 'demo' });
  });
});

describe('invariant W3: at the end of all of them', () => {
  it('none has got a second one by the end of all of them', async () => {
    expect(ended.length).toBeGreaterThan(20);
    for (const { reference, merchantId } of ended)
      expect(await received(reference, merchantId)).toHaveLength(1);
  });

  it('one that is still pending has none', async () => {
    const reference = next('silent');
    expectPending(await collections.payin(payinBody(reference)));
    const { reference: later } = await collect('KESAF');
    await expectWebhook(later);
    expect(await received(reference)).toEqual([]);
  });
});

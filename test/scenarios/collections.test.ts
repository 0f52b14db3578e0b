import { collectionWebhook, parseJson } from '@pesewa/contracts';
import type { CollectionRequest } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCompactScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  scenario = await openCompactScenario('collections');
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const otp = (label: string, digits: string): CollectionRequest => ({
  reference: scenario.reference(label),
  amount: '100.50',
  operatorCode: 'GMQMO',
  currency: 'GMD',
  country: 'GM',
  customerNumber: `220345${digits}`,
});

const stk = (label: string, digits: string): CollectionRequest => ({
  reference: scenario.reference(label),
  amount: '1500',
  operatorCode: 'CIMTN',
  currency: 'XOF',
  country: 'CI',
  customerNumber: `225070${digits}`,
});

const link = (label: string): CollectionRequest => ({
  reference: scenario.reference(label),
  amount: '1500',
  operatorCode: 'CIWAV',
  currency: 'XOF',
  country: 'CI',
  // It stays pending for ten seconds, unless it is cancelled.
  customerNumber: '2250707120008',
});

async function becomes(request: CollectionRequest, responseMessage: string): Promise<void> {
  await eventually(
    async () => expect((await scenario.demo.checkCollection(request)).responseMessage).toBe(responseMessage),
    60_000,
  );
}

/** The collection webhooks that the merchant received, parsed as the contract describes them. */
async function webhooks(request: CollectionRequest) {
  const received = await scenario.stack.simulator.received(scenario.merchantId, request.reference);
  return received.map(({ body }) => collectionWebhook.parse(parseJson(body)));
}

/** Expects FAILED, one webhook with one of these reasons, and no ledger entry. */
async function expectFailedOnce(request: CollectionRequest, ...reasons: readonly string[]): Promise<void> {
  await becomes(request, 'FAILED');
  const [webhook] = await eventually(async () => {
    const list = await webhooks(request);
    expect(list).toHaveLength(1);
    return list;
  });
  expect(webhook).toMatchObject({
    status: 'FAILED',
    transaction_status: 'Transaction Failed',
    amount_received: '0',
    transaction_fee: '0',
    failure_reason: expect.toBeOneOf([...reasons]) as unknown,
  });
  expect(await scenario.entryKinds(webhook?.transaction_reference ?? '')).toEqual([]);
}

async function expectCreditedOnce(request: CollectionRequest): Promise<void> {
  await becomes(request, 'COMPLETED');
  const [webhook] = await eventually(async () => {
    const list = await webhooks(request);
    expect(list).toHaveLength(1);
    return list;
  });
  expect(webhook).toMatchObject({
    status: 'COMPLETED',
    transaction_status: 'Funds Received',
    merchant_reference: request.reference,
  });
  const kinds = await eventually(async () => {
    const found = await scenario.entryKinds(webhook?.transaction_reference ?? '');
    expect(found).toHaveLength(3);
    return found;
  });
  expect(kinds).toEqual(['collect', 'fee', 'railCost']);
}

describe('OTP collection (GMQMO, contract 2.8)', () => {
  it('asks for six digits, takes the right ones, completes and credits received less fee (L11)', async () => {
    const request = otp('otp', '9999');
    const before = await scenario.stack.operator.wallet('demo', 'GMD');
    const initiated = await scenario.demo.initiateCollection(request);
    expect(initiated).toMatchObject({
      responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
      otpIsRequired: true,
      lengthOfOtp: '6',
      paymentCompletionRequired: true,
      redirectionRequired: false,
      redirectionUrl: '',
    });
    const wrong = await scenario.demo.completeCollection(request, '654321');
    expect(wrong.responseDetails).toMatchObject({ responseCode: '06', failedReason: 'INCORRECT OTP' });
    const completed = await scenario.demo.completeCollection(request, '123456');
    expect(completed.responseDetails.responseCode).toBe('09');
    await expectCreditedOnce(request);
    const [webhook] = await webhooks(request);
    expect(webhook).toMatchObject({
      amount_received: '100.5',
      transaction_fee: '1.51',
      currency_code: 'GMD',
    });
    await eventually(async () => {
      const after = await scenario.stack.operator.wallet('demo', 'GMD');
      expect(Math.round((Number(after.available) - Number(before.available)) * 100)).toBe(9_899);
    });
  });
});

describe('wrong OTPs (contract 10.12)', () => {
  it('three of them end the collection by the rail’s word, and the right one comes too late', async () => {
    const request = otp('three-wrong', '9998');
    await scenario.demo.initiateCollection(request);
    const reasons: (string | undefined)[] = [];
    for (const code of ['000000', '111111', '222222', '123456']) {
      const { responseDetails } = await scenario.demo.completeCollection(request, code);
      reasons.push(responseDetails.failedReason);
    }
    expect(reasons.slice(0, 3)).toEqual(['INCORRECT OTP', 'INCORRECT OTP', 'OTP ATTEMPTS EXCEEDED']);
    expect(['OTP ATTEMPTS EXCEEDED', 'COLLECTION CLOSED']).toContain(reasons[3]);
    // The rail is polled at once, which may be before its callback arrives with the reason.
    await expectFailedOnce(request, 'OTP ATTEMPTS EXCEEDED', 'FAILED');
  });
});

describe('link collection (CIWAV)', () => {
  it('hands out the rail’s page; cancelled there, it fails and says so once', async () => {
    const request = link('cancelled');
    const { redirectionUrl, paymentCompletionUrl, ...initiated } =
      await scenario.demo.initiateCollection(request);
    expect(initiated).toMatchObject({ redirectionRequired: true, paymentCompletionRequired: false });
    expect(paymentCompletionUrl).toBe(redirectionUrl);
    const page = await (await fetch(redirectionUrl)).text();
    expect(page).toContain('<button>Pay</button>');
    expect(page).toContain('<button>Cancel</button>');
    const completion = await scenario.demo.completeCollection(request);
    expect(completion.responseDetails.failedReason).toBe('COMPLETION NOT REQUIRED');
    await fetch(`${redirectionUrl}/cancel`, { method: 'POST' });
    // On a busy machine the poll may come before the callback with the reason.
    await expectFailedOnce(request, 'CANCELLED BY CUSTOMER', 'FAILED');
  });

  it('is paid by itself', async () => {
    const request = { ...link('paid'), customerNumber: '2250707129999' };
    await scenario.demo.initiateCollection(request);
    await expectCreditedOnce(request);
  });
});

describe('STK collection that is completed (GMAFR)', () => {
  it('waits for complete-payin, which needs no OTP', async () => {
    const request = { ...otp('completed', '9997'), operatorCode: 'GMAFR' };
    const initiated = await scenario.demo.initiateCollection(request);
    expect(initiated).toMatchObject({ otpIsRequired: false, paymentCompletionRequired: true });
    expect((await scenario.demo.checkCollection(request)).responseMessage).toBe('PENDING');
    const completed = await scenario.demo.completeCollection(request);
    expect(completed.responseDetails.responseCode).toBe('09');
    await expectCreditedOnce(request);
  });
});

describe('STK collection (CIMTN)', () => {
  it('completes without a further call', async () => {
    const request = stk('stk', '9999');
    const initiated = await scenario.demo.initiateCollection(request);
    expect(initiated).toMatchObject({
      otpIsRequired: false,
      lengthOfOtp: '0',
      paymentCompletionRequired: false,
      paymentCompletionUrl: '',
    });
    await expectCreditedOnce(request);
  });

  it('fails, credits nothing, and says so once (0001)', async () => {
    const request = stk('fails', '0001');
    await scenario.demo.initiateCollection(request);
    await expectFailedOnce(request, 'CUSTOMER DECLINED');
  });
});

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});

import type { Merchant } from '@pesewa/directory';
import { accept, refuse } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { notAcceptingRefusal } from './admission.ts';
import { ask, holderOf, merchant, openTestApp, payout } from './app.fixture.ts';
import type { Payouts } from './payouts.ts';

const wellFormed = {
  transactionReference: 'order-1',
  country: 'Kenya',
  currency: 'KES',
  channel: 'Bank Transfer',
  beneficiary: { accountName: 'A', accountNumber: '1', bankCode: '2', amount: 20.5 },
  sender: { name: 'S', email: 's@example.com' },
};

function open(overrides: Partial<Payouts> = {}, who: Merchant = merchant) {
  return openTestApp({
    identify: async (key) => (key === 'ZGVtbw==' ? holderOf(who) : undefined),
    payouts: {
      request: async () => accept(payout),
      find: async (_merchantId, reference) => (reference === 'order-1' ? payout : undefined),
      apply: async () => [],
      ...overrides,
    },
  });
}

const post = (app: ReturnType<typeof open>, body: unknown, headers: Record<string, string> = {}) =>
  ask(app, 'POST', '/api/v1/transactions/transfer/single', { body, headers });

describe('single payout (contract 4.1)', () => {
  it('answers 09 with the record', async () => {
    const answer = await post(open(), wellFormed);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ isSuccessful: true, responseCode: '09' });
    expect(answer.body.responseData).toMatchObject({
      transactionStatus: 'INITIALIZED',
      merchantReference: 'order-1',
      transactionReference: 'po-1',
      amount: '20.5',
      feeAmount: '0.21',
    });
  });

  it.each([
    ['no key', { 'x-api-key': '' }, 401, '63'],
    ['a wrong key', { 'x-api-key': 'd3Jvbmc=' }, 401, '63'],
    ['another content type', { 'content-type': 'text/plain' }, 400, '30'],
  ])('refuses %s', async (_what, headers, status, code) => {
    const answer = await post(open(), wellFormed, headers);
    expect([answer.status, answer.body.responseCode]).toEqual([status, code]);
  });

  it.each([
    [
      'a missing field',
      { ...wellFormed, beneficiary: { ...wellFormed.beneficiary, bankCode: undefined } },
      'beneficiary.bankCode is required',
    ],
    [
      'an amount in quotes',
      { ...wellFormed, beneficiary: { ...wellFormed.beneficiary, amount: '20.5' } },
      'beneficiary.amount must be a number',
    ],
    [
      'an operator for a string',
      { ...wellFormed, transactionReference: { $ne: '' } },
      'transactionReference must be a string',
    ],
    [
      'another channel',
      { ...wellFormed, channel: 'Pigeon' },
      'channel must be one of: Bank Transfer, Mobile Money',
    ],
    ['no object', [], 'the body must be an object'],
    ['half a body', '{"transactionReference":', 'the body must be well-formed JSON, each key once'],
    [
      'a key twice',
      '{"country":"Kenya","country":"Ghana"}',
      'the body must be well-formed JSON, each key once',
    ],
    ['a body nested for ever', '['.repeat(20_000), 'the body must have at most 16384 bytes'],
    ['deep nesting', '['.repeat(1_000), 'the body must be nested at most 32 levels deep'],
  ])('names what is wrong with %s', async (_what, body, message) => {
    const answer = await post(open(), body);
    expect(answer).toMatchObject({
      status: 400,
      body: { isSuccessful: false, responseCode: '30', responseMessage: message },
    });
  });

  it('refuses a suspended merchant with 57', async () => {
    const answer = await post(open({}, { ...merchant, status: 'suspended' }), wellFormed);
    expect([answer.status, answer.body.responseCode]).toEqual([403, '57']);
  });

  it('refuses other content under a used reference with 94', async () => {
    const app = open({ request: async () => refuse({ code: 'duplicate', message: 'used before' }) });
    const answer = await post(app, wellFormed);
    expect([answer.status, answer.body.responseCode]).toEqual([409, '94']);
  });

  it('answers 91 while nothing is taken on, and says that nothing was stored', async () => {
    const app = open({ request: async () => refuse(notAcceptingRefusal) });
    const answer = await post(app, wellFormed);
    expect([answer.status, answer.body.responseCode]).toEqual([503, '91']);
    expect(answer.body.responseMessage).toBe(notAcceptingRefusal.message);
  });

  it('answers 91 when it does not know whether the payout is stored', async () => {
    const app = open({ request: async () => Promise.reject(new Error('no primary')) });
    const answer = await post(app, wellFormed);
    expect([answer.status, answer.body.responseCode]).toEqual([503, '91']);
  });
});

describe('lookup (contract 4.3)', () => {
  const get = (path: string) => ask(open(), 'GET', path);

  it('shows value and reason', async () => {
    const { status, body } = await get('/api/v1/transactions/order-1/query');
    expect(status).toBe(200);
    expect(body).toMatchObject({ isSuccessful: true, responseCode: '00' });
    expect(body.responseData).toMatchObject({
      amount: '20.5',
      feeAmount: '0.21',
      valueAmount: '20.71',
      statusReason: '',
    });
  });

  it('answers 25 with 400 for a reference it does not know', async () => {
    const { status, body } = await get('/api/v1/transactions/unknown/query');
    expect([status, body.responseCode]).toEqual([400, '25']);
  });

  it('answers 91 where the database does not answer, and not that there is nothing', async () => {
    const app = open({ find: async () => Promise.reject(new Error('no primary')) });
    const { status, body } = await ask(app, 'GET', '/api/v1/transactions/order-1/query');
    expect([status, body.responseCode]).toEqual([503, '91']);
  });

  it('reaches no other route by a traversal', async () => {
    expect((await get('/api/v1/transactions/%2e%2e/query')).status).toBe(404);
  });
});

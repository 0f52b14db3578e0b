import { bulkPayoutRequest, parseJson } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { TransportError } from '../http-transport.ts';
import { answering, createRailFixture, payout, START_MS } from '../rails.fixture.ts';

const record = {
  transactionStatus: 'INITIALIZED',
  merchantReference: 'po-1',
  transactionReference: 'UP-1',
  amount: 100.5,
  feeAmount: 0.5,
};
const envelope = (change: object, data: object | undefined = record) => ({
  isSuccessful: true,
  responseCode: '09',
  responseMessage: 'submitted',
  responseData: data,
  ...change,
});
const nos = 'no '.repeat(60);
const accepted = (change: object) => envelope({}, { ...record, ...change });
const refused = (responseCode: string | undefined, responseMessage = 'no') => ({
  isSuccessful: false,
  responseCode,
  responseMessage,
});
const unknown = { kind: 'unknown', why: expect.any(String) as string };

const refusedUs = (why: string) =>
  ({ kind: 'notSent', why, retryAfterMs: 30_000, isOurFault: true }) as const;

describe('submitting a payout (contract 4.1)', () => {
  it('sends the contract’s request, its amount exact', async () => {
    const { rail, requests } = createRailFixture(answering(200, envelope({})));
    await rail.payouts.submit({ ...payout, amount: 9_007_199_254_740_991n, transactionType: '2' });
    const [request] = requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: 'http://rail.test/transfer/api/v1/transactions/transfer/single',
      headers: { 'content-type': 'application/json', 'x-api-key': 'cGVzZXdhLWF0LXVwc3RyZWFt' },
      timeoutMs: 10_000,
    });
    expect(request?.body).toContain('"amount":90071992547409.91}');
    expect(parseJson(request?.body ?? '')).toMatchObject({
      transactionReference: 'po-1',
      country: 'GHA',
      channel: 'Mobile Money',
      transactionType: '2',
      beneficiary: { accountNumber: '233240000000', bankCode: 'GHMTN' },
    });
  });

  it.each([
    ['09 initialized', 200, envelope({}), { kind: 'acknowledged' }],
    [
      'the amount in another spelling',
      200,
      JSON.stringify(envelope({})).replace('100.5', '1.0050e2'),
      { kind: 'acknowledged' },
    ],
    [
      '09 completed already',
      200,
      accepted({ transactionStatus: 'COMPLETED' }),
      { kind: 'completed', fee: 50n },
    ],
    [
      '09 failed already',
      200,
      accepted({ transactionStatus: 'FAILED', statusReason: 'no account' }),
      { kind: 'failed', reason: 'no account' },
    ],
    [
      '09 failed, no reason',
      200,
      accepted({ transactionStatus: 'FAILED' }),
      { kind: 'failed', reason: 'failed at the rail' },
    ],
    ['09 reversed', 200, accepted({ transactionStatus: 'REVERSED' }), unknown],
    ['09 for another payout', 200, accepted({ merchantReference: 'po-2' }), unknown],
    ['09 over another amount', 200, accepted({ amount: 100.51 }), unknown],
    ['09 over an impossible amount', 200, accepted({ amount: 100.501 }), unknown],
    ['09 over a negative fee', 200, accepted({ feeAmount: -1 }), unknown],
    ['09 with an unknown status', 200, accepted({ transactionStatus: 'PENDING' }), unknown],
    ['09 without a record', 200, { ...envelope({}), responseData: undefined }, unknown],
    ['00 instead of 09', 200, envelope({ responseCode: '00' }), unknown],
    ['another shape', 200, { ok: true }, unknown],
    ['no JSON', 200, '<html>', unknown],
    ['nothing', 200, '', unknown],
    ['09 with HTTP 400', 400, envelope({}), unknown],
    ['30', 400, refused('30', 'currency is required'), { kind: 'failed', reason: 'currency is required' }],
    ['13', 400, refused('13'), { kind: 'failed', reason: 'no' }],
    ['51, our funds', 422, refused('51'), refusedUs('refused with code 51')],
    ['61, our limit', 422, refused('61'), refusedUs('refused with code 61')],
    ['92', 422, refused('92', ''), { kind: 'failed', reason: 'refused with code 92' }],
    ['51 with HTTP 200', 200, refused('51'), refusedUs('refused with code 51')],
    ['92 with HTTP 200', 200, refused('92'), { kind: 'failed', reason: 'no' }],
    ['a long reason', 400, refused('30', nos), { kind: 'failed', reason: nos.slice(0, 140) }],
    ['a reason of two lines', 400, refused('30', ' no\r\npay '), { kind: 'failed', reason: 'no pay' }],
    ['94', 409, refused('94'), { kind: 'unknown', why: 'duplicate: look it up' }],
    ['25', 400, refused('25'), unknown],
    ['an unheard code', 422, refused('42'), unknown],
    ['no code', 400, refused(undefined), unknown],
    [
      '65 with HTTP 200',
      200,
      refused('65'),
      { kind: 'notSent', why: 'refused with code 65', retryAfterMs: 1_000 },
    ],
    ['63 with HTTP 200', 200, refused('63'), refusedUs('refused with code 63')],
    ['HTTP 401', 401, refused('63'), refusedUs('HTTP 401')],
    ['HTTP 403', 403, '<html>', refusedUs('HTTP 403')],
    ['HTTP 429', 429, '', { kind: 'notSent', why: 'HTTP 429', retryAfterMs: 1_000 }],
    ['HTTP 404 of a proxy', 404, '<html>', unknown],
    ['HTTP 302', 302, envelope({}), { kind: 'unknown', why: 'HTTP 302' }],
    ['HTTP 500', 500, envelope({}), { kind: 'unknown', why: 'HTTP 500' }],
    ['HTTP 500 with a refusal', 500, refused('92'), { kind: 'unknown', why: 'HTTP 500' }],
    ['91 and HTTP 503', 503, refused('91'), { kind: 'unknown', why: 'HTTP 503' }],
  ])('%s', async (_, status, body, result) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.payouts.submit(payout)).toEqual(result);
  });

  it.each([
    ['7', 7_000],
    ['0', 100],
    ['999999', 600_000],
    [new Date(START_MS + 5_000).toUTCString(), 5_000],
    [new Date(START_MS - 5_000).toUTCString(), 100],
    ['soon', 1_000],
  ])('keeps Retry-After %s within bounds', async (header, retryAfterMs) => {
    const { rail } = createRailFixture(answering(429, '', header));
    expect(await rail.payouts.submit(payout)).toMatchObject({ kind: 'notSent', retryAfterMs });
  });

  it.each([
    [
      'not sent',
      new TransportError('ECONNREFUSED', false),
      { kind: 'notSent', why: 'ECONNREFUSED', retryAfterMs: 1_000 },
    ],
    ['sent', new TransportError('ECONNRESET', true), { kind: 'unknown', why: 'ECONNRESET' }],
    ['who knows', new TypeError('a defect with 254700000000'), { kind: 'unknown', why: 'network failure' }],
  ])('a broken transport, %s', async (_, error, result) => {
    const { rail } = createRailFixture(() => Promise.reject(error));
    expect(await rail.payouts.submit(payout)).toEqual(result);
  });
});

describe('submitting an item of a batch that lacks what a single payout must have (contract 2.2, 4.2)', () => {
  const item = { ...payout, country: 'KEN', currency: 'KES' };
  const submitted = { isSuccessful: true, responseCode: '09', responseMessage: 'submitted' };

  it('sends it as a batch of its own, under our reference, with nothing made up', async () => {
    const { rail, requests } = createRailFixture(answering(200, submitted));
    expect(await rail.payouts.submit(item)).toEqual({ kind: 'acknowledged' });
    const [request] = requests;
    expect(request?.url).toBe('http://rail.test/transfer/api/v1/transactions/transfer/bulk');
    const body = bulkPayoutRequest.parse(parseJson(request?.body ?? ''));
    expect(body).toMatchObject({
      transactionReference: 'po-1.b',
      country: 'KEN',
      totalAmount: '100.5',
      beneficiaries: [{ transactionReference: 'po-1', amount: '100.5', accountNumber: '233240000000' }],
    });
    expect(request?.body).toContain('"phoneNumber":""');
    expect(body.transactionType).toBeUndefined();
    expect(body.sender.countryCode).toBeUndefined();
  });

  const sender = { ...payout.sender, phoneNumber: '+2341', countryCode: 'NGA', currencyCode: 'NGN' };
  it.each([
    ['KES without a type', { ...item, sender }, 'bulk'],
    ['KES, complete', { ...item, transactionType: '1', sender }, 'single'],
    ['low-risk KES without a phone number', { ...item, transactionType: '2', sender }, 'bulk'],
    ['XAF without a phone number', { ...payout, currency: 'XAF', transactionType: '1' }, 'bulk'],
    ['to South Africa', { ...payout, country: 'ZAF', currency: 'ZAR' }, 'bulk'],
    ['EGP without a national id', { ...payout, currency: 'EGP' }, 'bulk'],
    ['with an empty field', { ...item, transactionType: '', sender }, 'bulk'],
    ['GHS', payout, 'single'],
  ])('%s', async (_, order, way) => {
    const { rail, requests } = createRailFixture(answering(200, ''));
    await rail.payouts.submit(order);
    expect(requests[0]?.url).toMatch(new RegExp(`/transfer/${way}$`));
  });

  it.each([
    ['09 with a record', 200, envelope({}), { kind: 'acknowledged' }],
    ['00 instead of 09', 200, { ...submitted, responseCode: '00' }, unknown],
    ['09 with HTTP 400', 400, submitted, unknown],
    ['another shape', 200, { ok: true }, unknown],
    ['94', 409, refused('94'), { kind: 'unknown', why: 'duplicate: look it up' }],
    ['92', 422, refused('92', 'no bulk'), { kind: 'failed', reason: 'no bulk' }],
    ['HTTP 429', 429, '', { kind: 'notSent', why: 'HTTP 429', retryAfterMs: 1_000 }],
    ['HTTP 500', 500, submitted, { kind: 'unknown', why: 'HTTP 500' }],
  ])('%s', async (_, status, body, result) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.payouts.submit(item)).toEqual(result);
  });
});

describe('looking a payout up (contract 4.3)', () => {
  const query = { reference: 'po-1', currency: 'KES' };
  const found = (change: object) =>
    envelope({ responseCode: '00' }, { ...record, valueAmount: 101, ...change });

  it('asks for our reference', async () => {
    const { rail, requests } = createRailFixture(answering(200, found({})));
    await rail.payouts.lookUp({ ...query, reference: 'a:b' });
    expect(requests).toMatchObject([
      { method: 'GET', url: 'http://rail.test/transfer/api/v1/transactions/a%3Ab/query' },
    ]);
    expect(requests[0]).not.toHaveProperty('body');
  });

  it.each([
    ['initialized', 200, found({}), { kind: 'pending' }],
    [
      'completed',
      200,
      found({ transactionStatus: 'COMPLETED', statusReason: 'Successful' }),
      { kind: 'completed', amount: 10_050n, fee: 50n, reason: 'Successful' },
    ],
    [
      'completed over another amount',
      200,
      found({ transactionStatus: 'COMPLETED', amount: 1, statusReason: null }),
      { kind: 'completed', amount: 100n, fee: 50n, reason: null },
    ],
    [
      'failed',
      200,
      found({ transactionStatus: 'FAILED', statusReason: 'closed' }),
      { kind: 'failed', reason: 'closed' },
    ],
    [
      'reversed',
      200,
      found({ transactionStatus: 'REVERSED' }),
      { kind: 'reversed', amount: 10_050n, fee: 50n, reason: 'reversed at the rail' },
    ],
    ['25 and 400', 400, refused('25'), { kind: 'notFound' }],
    ['25 and 200', 200, refused('25'), { kind: 'notFound' }],
    ['25 and 404', 404, refused('25'), unknown],
    ['25 and 409', 409, refused('25'), unknown],
    ['25 and 500', 500, refused('25'), unknown],
    ['a successful 25', 200, envelope({ responseCode: '25' }), unknown],
    ['another refusal', 400, refused('30'), unknown],
    ['another payout', 200, found({ merchantReference: 'po-2' }), unknown],
    ['09 instead of 00', 200, envelope({}), unknown],
    ['an amount too fine', 200, found({ amount: 0.001 }), unknown],
    ['HTTP 404 without an envelope', 404, '{}', unknown],
    ['HTTP 401', 401, '', { ...unknown, isOurFault: true }],
    ['HTTP 403', 403, '', { ...unknown, isOurFault: true }],
    ['HTTP 429', 429, '', { kind: 'unknown', why: 'HTTP 429', retryAfterMs: 1_000 }],
    ['no JSON', 200, 'oops', unknown],
  ])('%s', async (_, status, body, observation) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.payouts.lookUp(query)).toEqual(observation);
  });

  it('reports to us, and to no merchant, that a payout failed for lack of our funds', async () => {
    const empty = found({ transactionStatus: 'FAILED', statusReason: 'Insufficient wallet balance' });
    const { rail, warnings } = createRailFixture(answering(200, empty));
    expect(await rail.payouts.lookUp(query)).toEqual({ kind: 'failed', reason: 'not paid by the rail' });
    expect(warnings).toEqual([
      [{ rail: 'upstream', reference: 'po-1' }, 'the rail failed a payout for lack of our funds'],
    ]);
  });

  it('gets no answer from a rail that is not reached, and none from one that turns it away for a while', async () => {
    const unreached = createRailFixture(() => Promise.reject(new TransportError('ECONNREFUSED', false)));
    expect(await unreached.rail.payouts.lookUp(query)).toEqual({ kind: 'unknown', why: 'ECONNREFUSED' });
    const busy = createRailFixture(answering(429, '', '600'));
    expect(await busy.rail.payouts.lookUp(query)).toEqual({
      kind: 'unknown',
      why: 'HTTP 429',
      retryAfterMs: 600_000,
    });
  });
});

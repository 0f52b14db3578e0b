import { describe, expect, it } from 'vitest';
import { answering, collection, createRailFixture } from '../fixture.ts';

const answer = (details: object, change: object = {}) => ({
  responseDetails: { responseCode: '09', responseMessage: 'PENDING', ...details },
  transactionReference: 'UP-1',
  otpIsRequired: false,
  lengthOfOtp: 0,
  paymentCompletionRequired: false,
  paymentCompletionUrl: '',
  redirectionRequired: false,
  redirectionUrl: '',
  ...change,
});
const failed = (failedReason?: string) => ({
  responseDetails: { responseCode: '06', responseMessage: 'FAILED', failedReason },
});
const link = (redirectionUrl: string) => answer({}, { redirectionRequired: true, redirectionUrl });
const unknown = { kind: 'unknown', why: expect.any(String) as string };
const decoded = (header: string | undefined) => Buffer.from(header ?? '', 'base64').toString();

describe('initiating a collection (contract 4.7)', () => {
  it('sends the contract’s request, its security value over the amount as written', async () => {
    const { rail, requests } = createRailFixture(answering(200, answer({})));
    await rail.initiateCollection(collection);
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url: 'http://rail.test/collect/collection/v1/payin' });
    expect(request?.headers).toMatchObject({ 'x-app': 'api', accept: 'application/json' });
    expect(decoded(request?.headers['x-business'])).toBe('pesewa-at-upstream');
    expect(decoded(request?.headers['x-module'])).toBe('100.5co-1233200000000');
    expect(request?.body).toContain('"transactionAmount":100.5,');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      requestHeader: { clientId: '', requestType: 'Collections' },
      customerName: '',
      customerEmail: '',
      customerNumber: '233200000000',
      transactionReference: 'co-1',
      transactionDescription: '',
      transactionAmount: 100.5,
      transactionCurrency: 'GHS',
      transactionCountry: 'GH',
      transactionType: '2',
      successUrl: '',
      errorUrl: '',
      cancelUrl: '',
      operatorCode: 'GHMTN',
      webhookUrl: '',
    });
  });

  it('asks the Gambia with requestType B', async () => {
    const { rail, requests } = createRailFixture(answering(200, answer({})));
    await rail.initiateCollection({ ...collection, country: 'GM', currency: 'GMD', operatorCode: 'GMWAV' });
    expect(requests[0]?.body).toContain('"requestType":"B"');
    expect(requests[0]?.body).toContain('"transactionCountry":"GM"');
  });

  it.each([
    ['pending', 200, answer({}), { kind: 'accepted', redirectionUrl: '' }],
    [
      'a link',
      200,
      link('https://pay.example/1'),
      { kind: 'accepted', redirectionUrl: 'https://pay.example/1' },
    ],
    ['a link that is none', 200, link('javascript:alert(1)'), { kind: 'accepted', redirectionUrl: '' }],
    [
      'a link not required',
      200,
      answer({}, { redirectionUrl: 'https://pay.example/1' }),
      { kind: 'accepted', redirectionUrl: '' },
    ],
    ['duplicate', 200, failed('DUPLICATE REFERENCE'), { kind: 'unknown', why: 'duplicate: look it up' }],
    [
      'wrong module',
      200,
      failed('Incorrect security module'),
      { kind: 'failed', reason: 'INCORRECT SECURITY MODULE' },
    ],
    [
      'no operator, whole body',
      200,
      answer({ responseCode: '06', responseMessage: 'FAILED', failedReason: 'OPERATOR NOT AVAILABLE' }),
      { kind: 'failed', reason: 'OPERATOR NOT AVAILABLE' },
    ],
    ['no reason', 200, failed(), { kind: 'failed', reason: 'FAILED' }],
    ['invalid request', 400, failed('INVALID REQUEST'), { kind: 'failed', reason: 'INVALID REQUEST' }],
    ['internal error', 200, failed('INTERNAL ERROR'), unknown],
    [
      'too many',
      200,
      failed('TOO MANY REQUESTS'),
      { kind: 'notSent', why: 'TOO MANY REQUESTS', retryAfterMs: 1_000 },
    ],
    ['HTTP 401', 401, failed('UNAUTHORIZED'), { kind: 'notSent', why: 'HTTP 401', retryAfterMs: 30_000 }],
    ['HTTP 500', 500, failed('INTERNAL ERROR'), unknown],
    ['09 FAILED', 200, answer({ responseMessage: 'FAILED' }), unknown],
    ['06 PENDING', 200, answer({ responseCode: '06' }), unknown],
    ['00', 200, answer({ responseCode: '00' }), unknown],
    ['09 with HTTP 400', 400, answer({}), unknown],
    ['09 and nothing else', 200, { responseDetails: answer({}).responseDetails }, unknown],
    ['no JSON', 200, '', unknown],
  ])('%s', async (_, status, body, result) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.initiateCollection(collection)).toEqual(result);
  });
});

describe('completing a collection (contract 4.8)', () => {
  it('repeats the request with the OTP', async () => {
    const { rail, requests } = createRailFixture(answering(200, answer({})));
    await rail.initiateCollection(collection);
    await rail.completeCollection({ ...collection, otpCode: '123456' });
    const [first, second] = requests;
    expect(second?.url).toBe('http://rail.test/collect/collection/v1/complete-payin');
    expect(second?.headers).toEqual(first?.headers);
    expect(JSON.parse(second?.body ?? '')).toEqual({
      ...(JSON.parse(first?.body ?? '') as object),
      otpCode: '123456',
    });
  });

  it.each([
    ['goes on', 200, answer({}), { kind: 'accepted' }],
    ['goes on, said shortly', 200, { responseDetails: answer({}).responseDetails }, { kind: 'accepted' }],
    ['wrong OTP', 200, failed('incorrect otp'), { kind: 'refused', reason: 'INCORRECT OTP' }],
    ['late OTP', 200, failed('OTP EXPIRED'), { kind: 'refused', reason: 'OTP EXPIRED' }],
    ['duplicate', 200, failed('DUPLICATE REFERENCE'), { kind: 'refused', reason: 'DUPLICATE REFERENCE' }],
    ['HTTP 429', 429, '', { kind: 'notSent', why: 'HTTP 429', retryAfterMs: 1_000 }],
    ['HTTP 502', 502, '', { kind: 'unknown', why: 'HTTP 502' }],
    ['garbage', 200, '[]', unknown],
  ])('%s', async (_, status, body, result) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.completeCollection(collection)).toEqual(result);
  });
});

describe('checking a collection (contract 4.9)', () => {
  const query = { reference: 'co-1', country: 'GHA', currency: 'GHS' };
  const state = (responseCode: string, responseMessage: string) => ({
    serverResponse: { responseDetails: { responseCode, responseMessage } },
  });

  it('sends the security value over the reference', async () => {
    const { rail, requests } = createRailFixture(answering(200, state('09', 'PENDING')));
    await rail.checkCollection(query);
    expect(requests[0]?.url).toBe('http://rail.test/collect/collection/v1/check-status');
    expect(decoded(requests[0]?.headers['x-module'])).toBe('co-1');
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      requestHeader: { clientId: '', requestType: 'GH-Collections' },
      transactionReference: 'co-1',
      transactionCountry: 'GH',
    });
  });

  it.each([
    ['pending', 200, state('09', 'PENDING'), { kind: 'pending' }],
    [
      'completed',
      200,
      state('00', 'Completed'),
      { kind: 'completed', amount: null, fee: null, reason: null },
    ],
    ['failed', 200, state('06', 'FAILED'), { kind: 'failed', reason: 'FAILED' }],
    ['not found', 200, state('25', 'NOT FOUND'), { kind: 'notFound' }],
    ['answered, yet pending', 200, state('00', 'PENDING'), unknown],
    ['failed to answer', 200, state('06', 'TRY AGAIN'), unknown],
    ['disputed', 200, state('77', 'DISPUTED'), unknown],
    ['refused', 400, { timestamp: 't', status: 400, error: 'Bad Request', path: '/' }, unknown],
    ['not found with HTTP 404', 404, state('25', 'NOT FOUND'), unknown],
    ['HTTP 500', 500, state('00', 'COMPLETED'), unknown],
    ['HTTP 401', 401, '', unknown],
    ['garbage', 200, '{"serverResponse":', unknown],
  ])('%s', async (_, status, body, observation) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.checkCollection(query)).toEqual(observation);
  });
});

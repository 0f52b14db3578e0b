import { describe, expect, it } from 'vitest';
import { answering, collection, createRailFixture } from '../rails.fixture.ts';

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
const failed = (failedReason?: unknown) => ({
  responseDetails: { responseCode: '06', responseMessage: 'FAILED', failedReason },
});
const link = (redirectionUrl: string) => answer({}, { redirectionRequired: true, redirectionUrl });
const unknown = { kind: 'unknown', why: expect.any(String) as string };
const decoded = (header: string | undefined) => Buffer.from(header ?? '', 'base64').toString();

describe('initiating a collection (contract 4.7)', () => {
  it('sends the contract’s request, its security value over the amount as written', async () => {
    const { rail, requests } = createRailFixture(answering(200, answer({})));
    await rail.collections.initiate(collection);
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
    await rail.collections.initiate({ ...collection, country: 'GM', currency: 'GMD', operatorCode: 'GMWAV' });
    expect(requests[0]?.body).toContain('"requestType":"B"');
    expect(requests[0]?.body).toContain('"transactionCountry":"GM"');
  });

  it.each([
    ['pending', 200, answer({}), { kind: 'acknowledged', redirectionUrl: '' }],
    [
      'a link in another flow',
      200,
      link('https://pay.example/1'),
      { kind: 'acknowledged', redirectionUrl: '' },
    ],
    [
      'its head and nothing else',
      200,
      { responseDetails: { responseCode: '09', responseMessage: 'PENDING' } },
      { kind: 'acknowledged', redirectionUrl: '' },
    ],
    [
      'null wherever something is optional',
      200,
      {
        responseDetails: { ...answer({}).responseDetails, statusDescription: null, failedReason: null },
        transactionReference: null,
        otpIsRequired: null,
        lengthOfOtp: null,
        paymentCompletionRequired: null,
        paymentCompletionUrl: null,
        redirectionRequired: null,
        redirectionUrl: null,
      },
      { kind: 'acknowledged', redirectionUrl: '' },
    ],
    ['a reason that is null', 200, failed(null), { kind: 'failed', reason: 'FAILED' }],
    ['a reason that is no text', 200, failed({ code: 7 }), { kind: 'failed', reason: 'FAILED' }],
    ['duplicate', 200, failed('DUPLICATE REFERENCE'), { kind: 'unknown', why: 'duplicate: look it up' }],
    [
      'wrong module',
      200,
      failed('Incorrect security module'),
      { kind: 'failed', reason: 'INCORRECT SECURITY MODULE' },
    ],
    [
      'no mobile operator, whole body',
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
    [
      'HTTP 401',
      401,
      failed('UNAUTHORIZED'),
      { kind: 'notSent', why: 'HTTP 401', retryAfterMs: 30_000, isOurFault: true },
    ],
    ['HTTP 500', 500, failed('INTERNAL ERROR'), unknown],
    ['09 FAILED', 200, answer({ responseMessage: 'FAILED' }), unknown],
    ['06 PENDING', 200, answer({ responseCode: '06' }), unknown],
    ['00', 200, answer({ responseCode: '00' }), unknown],
    ['09 with HTTP 400', 400, answer({}), unknown],
    ['no head', 200, { transactionReference: 'UP-1', redirectionUrl: 'https://pay.example/1' }, unknown],
    ['no message', 200, { responseDetails: { responseCode: '09' } }, unknown],
    ['no JSON', 200, '', unknown],
  ])('%s', async (_, status, body, result) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.collections.initiate(collection)).toEqual(result);
  });
});

describe('the link of a link flow (contract 2.9)', () => {
  const byLink = { ...collection, country: 'GMB', currency: 'GMD', operatorCode: 'GMWAV' };
  const secure = { collectionsUrl: 'https://rail.test/collect' };

  it.each([
    ['as it is', link('https://pay.example/1?a=b'), 'https://pay.example/1?a=b'],
    ['in its normal spelling', link(' https://PAY.example:443/a b'), 'https://pay.example/a%20b'],
    [
      'whatever is said of its need',
      answer({}, { redirectionUrl: 'https://pay.example/1' }),
      'https://pay.example/1',
    ],
    [
      'in the field of the completion',
      answer({}, { redirectionUrl: null, paymentCompletionUrl: 'https://pay.example/2' }),
      'https://pay.example/2',
    ],
  ])('%s', async (_, body, redirectionUrl) => {
    const { rail, warnings } = createRailFixture(answering(200, body), secure);
    expect(await rail.collections.initiate(byLink)).toEqual({ kind: 'acknowledged', redirectionUrl });
    expect(warnings).toEqual([]);
  });

  it.each([
    ['a script', 'javascript:alert(1)'],
    ['http', 'http://pay.example/canary'],
    ['credentials', 'https://canary:secret@pay.example/'],
    ['a user', 'https://canary@pay.example/'],
    ['a control character', 'https://pay.example/canary\u0000'],
    ['a line break', 'https://pay.example/\ncanary'],
    ['text that turns round', 'https://pay.example/\u202ecanary'],
    ['an invisible character', 'https://pay.example/can\u200bary'],
    ['more than an address may hold', `https://pay.example/canary${'x'.repeat(2_048)}`],
    ['nothing', ''],
  ])('that is or has %s is left out, also from the warning', async (_, address) => {
    const { rail, warnings } = createRailFixture(answering(200, link(address)), secure);
    expect(await rail.collections.initiate(byLink)).toEqual({ kind: 'acknowledged', redirectionUrl: '' });
    expect(warnings).toEqual([[{ rail: 'upstream', reference: 'co-1' }, expect.any(String)]]);
    expect(JSON.stringify(warnings)).not.toMatch(/canary|script/);
  });

  it('may be http where the rail itself is, on a developer’s machine', async () => {
    const { rail } = createRailFixture(answering(200, link('http://127.0.0.1:4070/pay/1')));
    expect(await rail.collections.initiate(byLink)).toMatchObject({
      redirectionUrl: 'http://127.0.0.1:4070/pay/1',
    });
  });
});

describe('completing a collection (contract 4.8)', () => {
  it('repeats the request with the OTP', async () => {
    const { rail, requests } = createRailFixture(answering(200, answer({})));
    await rail.collections.initiate(collection);
    await rail.collections.complete({ ...collection, otpCode: '123456' });
    const [first, second] = requests;
    expect(second?.url).toBe('http://rail.test/collect/collection/v1/complete-payin');
    expect(second?.headers).toEqual(first?.headers);
    expect(JSON.parse(second?.body ?? '')).toEqual({
      ...(JSON.parse(first?.body ?? '') as object),
      otpCode: '123456',
    });
  });

  it.each([
    ['goes on', 200, answer({}), { kind: 'acknowledged' }],
    ['goes on, said shortly', 200, { responseDetails: answer({}).responseDetails }, { kind: 'acknowledged' }],
    ['wrong OTP', 200, failed('incorrect otp'), { kind: 'refused', reason: 'INCORRECT OTP' }],
    ['late OTP', 200, failed('OTP EXPIRED'), { kind: 'refused', reason: 'OTP EXPIRED' }],
    ['duplicate', 200, failed('DUPLICATE REFERENCE'), { kind: 'refused', reason: 'DUPLICATE REFERENCE' }],
    ['HTTP 429', 429, '', { kind: 'notSent', why: 'HTTP 429', retryAfterMs: 1_000 }],
    ['HTTP 502', 502, '', { kind: 'unknown', why: 'HTTP 502' }],
    ['garbage', 200, '[]', unknown],
  ])('%s', async (_, status, body, result) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.collections.complete(collection)).toEqual(result);
  });
});

describe('checking a collection (contract 4.9)', () => {
  const query = { reference: 'co-1', country: 'GHA', currency: 'GHS' };
  const state = (responseCode: string, responseMessage: string) => ({
    serverResponse: { responseDetails: { responseCode, responseMessage } },
  });

  it('sends the security value over the reference', async () => {
    const { rail, requests } = createRailFixture(answering(200, state('09', 'PENDING')));
    await rail.collections.check(query);
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
    ['HTTP 401', 401, '', { ...unknown, isOurFault: true }],
    ['HTTP 429', 429, '', { kind: 'unknown', why: 'HTTP 429', retryAfterMs: 1_000 }],
    ['garbage', 200, '{"serverResponse":', unknown],
  ])('%s', async (_, status, body, observation) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.collections.check(query)).toEqual(observation);
  });
});

import { describe, expect, it } from 'vitest';
import { type GatewayAnswer, ivoryCoast, openGateway, payinBody } from './fixtures/gateway.ts';

type Gateway = ReturnType<typeof openGateway>;

const nothingFurther = {
  otpIsRequired: false,
  lengthOfOtp: 0,
  paymentCompletionRequired: false,
  paymentCompletionUrl: '',
  redirectionRequired: false,
  redirectionUrl: '',
};
const awaitingOtp = {
  ...nothingFurther,
  otpIsRequired: true,
  lengthOfOtp: 6,
  paymentCompletionRequired: true,
  paymentCompletionUrl: '/collection/v1/complete-payin',
};
const pending = { responseCode: '09', responseMessage: 'PENDING' };
const failed = (failedReason: string) => ({ responseCode: '06', responseMessage: 'FAILED', failedReason });

const referenceOf = (answer: GatewayAnswer) => String(answer.body['transactionReference']);
const descriptionOf = ({ body }: GatewayAnswer) =>
  (body['responseDetails'] as { readonly statusDescription?: string }).statusDescription;
const onlyStored = (gateway: Gateway) => [...gateway.stored.values()][0];
const typesOf = (gateway: Gateway) =>
  gateway.emitted.map(({ type }) => type.replace('pesewa.collections.', ''));
const ghana = {
  requestHeader: { clientId: '', requestType: 'Collections' },
  transactionCurrency: 'GHS',
  transactionCountry: 'GH',
  operatorCode: 'GHMTN',
};

describe('payin', () => {
  it.each([
    ['GMQMO', {}, awaitingOtp],
    ['GMAFR', { operatorCode: 'GMAFR' }, { ...awaitingOtp, otpIsRequired: false, lengthOfOtp: 0 }],
    ['CIMTN', ivoryCoast, nothingFurther],
    ['CIORA', { ...ivoryCoast, operatorCode: 'CIORA' }, { ...awaitingOtp, lengthOfOtp: 4 }],
    ['GHMTN high risk', { ...ghana, transactionType: '1' }, nothingFurther],
    ['GHMTN low risk', { ...ghana, transactionType: '2' }, awaitingOtp],
  ])('by %s answers what is next', async (_name, changes, next) => {
    const gateway = openGateway();
    const answer = await gateway.send({ path: 'payin', body: payinBody(changes) });
    const transactionReference = onlyStored(gateway)?.reference;
    expect(transactionReference).toMatch(/^co-/);
    expect(answer).toEqual({
      status: 200,
      body: { responseDetails: pending, transactionReference, ...next },
    });
    expect(gateway.rail.initiations).toMatchObject([{ reference: transactionReference }]);
    expect(typesOf(gateway)).toEqual(['CollectionInitiated']);
  });

  it("by link answers the rail's link", async () => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'accepted', redirectionUrl: 'https://pay.example/1' };
    const { body } = await gateway.send({ path: 'payin', body: payinBody({ operatorCode: 'GMWAV' }) });
    expect(body).toMatchObject({
      paymentCompletionRequired: false,
      paymentCompletionUrl: 'https://pay.example/1',
      redirectionRequired: true,
      redirectionUrl: 'https://pay.example/1',
    });
  });

  it.each([
    ['unknown', { kind: 'unknown', why: 'HTTP 500' } as const, 'unknown'],
    ['not sent', { kind: 'notSent', why: 'circuit open', retryAfterMs: 5_000 } as const, 'queued'],
  ])('is pending where the outcome is %s', async (_name, initiation, step) => {
    const gateway = openGateway();
    gateway.rail.script.initiation = initiation;
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    expect(answer).toMatchObject({ status: 200, body: { responseDetails: pending, ...awaitingOtp } });
    expect(onlyStored(gateway)?.step).toBe(step);
  });

  it('is pending where the rail takes too long, and still records what it says later', async () => {
    const gateway = openGateway();
    const late = Promise.withResolvers<{ kind: 'accepted'; redirectionUrl: string }>();
    gateway.rail.script.initiation = late.promise;
    gateway.losePatience();
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    expect(answer).toMatchObject({ status: 200, body: { responseDetails: pending, ...awaitingOtp } });
    expect(onlyStored(gateway)?.step).toBe('initiating');
    late.resolve({ kind: 'accepted', redirectionUrl: '' });
    await gateway.patience[Symbol.asyncDispose]();
    expect(onlyStored(gateway)?.step).toBe('awaitingOtp');
  });

  it("that the rail refuses fails with the rail's reason in capitals", async () => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'failed', reason: 'Customer not registered' };
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    expect(answer).toMatchObject({
      status: 200,
      body: { responseDetails: failed('CUSTOMER NOT REGISTERED') },
    });
    expect(typesOf(gateway)).toEqual(['CollectionInitiated', 'CollectionFailed']);
  });

  it('is initiated once: a repeated reference is a duplicate, before operator and amount', async () => {
    const gateway = openGateway();
    const first = await gateway.send({ path: 'payin', body: payinBody() });
    for (const changes of [
      {},
      { transactionAmount: 5 },
      { operatorCode: 'NOSUCH' },
      { transactionAmount: -5 },
    ]) {
      const answer = await gateway.send({ path: 'payin', body: payinBody(changes) });
      expect(answer).toEqual({
        status: 200,
        body: {
          responseDetails: failed('DUPLICATE REFERENCE'),
          transactionReference: referenceOf(first),
          ...nothingFurther,
        },
      });
    }
    expect(gateway.rail.initiations).toHaveLength(1);
    expect(typesOf(gateway)).toEqual(['CollectionInitiated']);
  });

  it.each([
    ['an operator of another country', { operatorCode: 'CIMTN' }, 'OPERATOR NOT AVAILABLE'],
    ['an operator nobody knows', { operatorCode: 'GMXYZ' }, 'OPERATOR NOT AVAILABLE'],
    ['another currency', { transactionCurrency: 'XOF' }, 'OPERATOR NOT AVAILABLE'],
    ['an operator without a rail', { ...ivoryCoast, operatorCode: 'CIMOO' }, 'OPERATOR NOT AVAILABLE'],
    ['an amount of nothing', { transactionAmount: 0 }, 'INVALID AMOUNT'],
    ["no multiple of five in Cote d'Ivoire", { ...ivoryCoast, transactionAmount: 101 }, 'INVALID AMOUNT'],
    ['operator and amount wrong', { operatorCode: 'GMXYZ', transactionAmount: 0 }, 'OPERATOR NOT AVAILABLE'],
  ])('with %s is refused', async (_name, changes, reason) => {
    const gateway = openGateway();
    const answer = await gateway.send({ path: 'payin', body: payinBody(changes) });
    expect(answer).toEqual({
      status: 200,
      body: { responseDetails: failed(reason), transactionReference: '', ...nothingFurther },
    });
    expect([gateway.stored.size, gateway.rail.initiations.length, gateway.emitted.length]).toEqual([0, 0, 0]);
  });

  it.each([
    ['customerNumber', { customerNumber: '' }],
    ['transactionReference', { transactionReference: 'a b' }],
    ['transactionAmount', { transactionAmount: '100' }],
    ['transactionCountry', { transactionCountry: 'XX' }],
    ['transactionCurrency', { transactionCurrency: 'ZZZ' }],
    ['requestHeader', { requestHeader: undefined }],
    ['requestHeader.requestType', { requestHeader: { clientId: '', requestType: 'Collections' } }],
    ['transactionType', ghana],
    ['transactionType', { ...ghana, transactionType: '3' }],
    ['operatorCode', { operatorCode: undefined }],
    ['webhookUrl', { webhookUrl: 'ftp://merchant.example' }],
  ])('with a malformed %s is an invalid request', async (field, changes) => {
    const gateway = openGateway();
    const answer = await gateway.send({ path: 'payin', body: payinBody(changes) });
    expect(answer.status).toBe(400);
    expect(answer.body['responseDetails']).toMatchObject(failed('INVALID REQUEST'));
    expect(descriptionOf(answer)).toMatch(new RegExp(`^${field} `));
  });

  it.each([
    ['100.50', '100.50', true],
    ['100.50', '100.5', true],
    ['1e2', '100', true],
    ['100', '100.0', false],
    ['100', '', false],
  ])('of %s with the security module of %s: %s', async (inBody, inModule, right) => {
    const gateway = openGateway();
    const text = JSON.stringify(payinBody()).replace(
      '"transactionAmount":100',
      `"transactionAmount":${inBody}`,
    );
    const answer = await gateway.send({ path: 'payin', body: text, module: `${inModule}order-12203001234` });
    expect(answer.status).toBe(200);
    expect(answer.body['responseDetails']).toEqual(right ? pending : failed('INCORRECT SECURITY MODULE'));
  });

  it.each([{ 'x-app': 'web' }, { 'x-business': 'bm9ib2R5LWtub3dzLXRoaXM=' }, { 'x-business': '' }])(
    'with %o is unauthorized',
    async (headers) => {
      const answer = await openGateway().send({ path: 'payin', body: '{', headers });
      expect(answer).toMatchObject({ status: 401, body: { responseDetails: failed('UNAUTHORIZED') } });
    },
  );
});

describe('complete-payin', () => {
  const initiatedGateway = async (changes: Readonly<Record<string, unknown>> = {}) => {
    const gateway = openGateway();
    const first = await gateway.send({ path: 'payin', body: payinBody(changes) });
    const complete = (otpCode?: string, more: Readonly<Record<string, unknown>> = {}) =>
      gateway.send({
        path: 'complete-payin',
        body: payinBody({ ...changes, ...(otpCode !== undefined && { otpCode }), ...more }),
      });
    return { gateway, complete, reference: referenceOf(first) };
  };
  const wrongOtp = { kind: 'refused', reason: 'INCORRECT OTP' } as const;

  it('passes the OTP on, and keeps it nowhere', async () => {
    const { gateway, complete, reference } = await initiatedGateway();
    const answer = await complete('987654');
    expect(answer).toEqual({
      status: 200,
      body: { responseDetails: pending, transactionReference: reference, ...nothingFurther },
    });
    expect(gateway.rail.completions).toMatchObject([{ reference, otpCode: '987654' }]);
    expect(onlyStored(gateway)?.step).toBe('completing');
    expect(typesOf(gateway)).toEqual(['CollectionInitiated', 'CollectionCompletionRequested']);
    const kept = [...gateway.stored.values(), ...gateway.emitted];
    const text = JSON.stringify(kept, (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
    expect(text).not.toContain('987654');
  });

  it('a second time answers the same without asking the rail again', async () => {
    const { gateway, complete } = await initiatedGateway();
    const first = await complete('987654');
    expect(await complete('987654')).toEqual(first);
    expect(gateway.rail.completions).toHaveLength(1);
  });

  it('passes on three wrong OTPs and no fourth, even at once', async () => {
    const { gateway, complete } = await initiatedGateway();
    gateway.rail.script.completion = wrongOtp;
    const answers = await Promise.all(
      ['111111', '222222', '333333', '444444', '555555'].map((otp) => complete(otp)),
    );
    const reasons = answers.map(
      ({ body }) => (body['responseDetails'] as { failedReason: string }).failedReason,
    );
    expect(reasons.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'INCORRECT OTP'),
      ...Array.from({ length: 2 }, () => 'OTP ATTEMPTS EXCEEDED'),
    ]);
    expect(gateway.rail.completions).toHaveLength(3);
    expect(onlyStored(gateway)?.status).toBe('PENDING');
  });

  it('after five minutes passes nothing on', async () => {
    const { gateway, complete } = await initiatedGateway();
    gateway.advance(5 * 60_000 + 1);
    expect((await complete('987654')).body['responseDetails']).toEqual(failed('OTP EXPIRED'));
    expect(gateway.rail.completions).toHaveLength(0);
  });

  it('of GMAFR needs no OTP', async () => {
    const { gateway, complete } = await initiatedGateway({ operatorCode: 'GMAFR' });
    expect((await complete()).body['responseDetails']).toEqual(pending);
    expect(gateway.rail.completions).toHaveLength(1);
  });

  it.each([
    ['of a single-step STK push', ivoryCoast, {}, 200, 'COMPLETION NOT REQUIRED'],
    ['without an OTP', {}, {}, 400, 'INVALID REQUEST'],
    ['with four digits for six', {}, { otpCode: '1234' }, 400, 'INVALID REQUEST'],
    ['with letters', {}, { otpCode: '12345a' }, 400, 'INVALID REQUEST'],
    ['of another amount', {}, { otpCode: '123456', transactionAmount: 99 }, 200, 'REQUEST MISMATCH'],
    ['of another operator', {}, { operatorCode: 'GMAFR' }, 200, 'REQUEST MISMATCH'],
    [
      'of no collection',
      {},
      { otpCode: '123456', transactionReference: 'order-2' },
      200,
      'UNKNOWN REFERENCE',
    ],
  ])('%s is refused', async (_name, changes, completion, status, reason) => {
    const { gateway, complete } = await initiatedGateway(changes);
    const answer = await complete(undefined, completion);
    expect(answer).toMatchObject({ status, body: { responseDetails: failed(reason) } });
    expect(gateway.rail.completions).toHaveLength(0);
  });

  it('of an ended collection is closed', async () => {
    const { gateway, complete, reference } = await initiatedGateway();
    await gateway.observe({ reference, status: 'failed', reason: 'EXPIRED' });
    expect((await complete('123456')).body['responseDetails']).toEqual(failed('COLLECTION CLOSED'));
  });

  it.each([
    ['unclear', { kind: 'unknown', why: 'timeout' } as const, 200, pending, 1],
    [
      'not sent',
      { kind: 'notSent', why: 'circuit open', retryAfterMs: 1 } as const,
      503,
      failed('SERVICE UNAVAILABLE'),
      0,
    ],
    [
      'unknown to the rail',
      { kind: 'refused', reason: 'UNKNOWN REFERENCE' } as const,
      503,
      failed('SERVICE UNAVAILABLE'),
      0,
    ],
  ])('whose outcome is %s', async (_name, completion, status, responseDetails, tries) => {
    const { gateway, complete } = await initiatedGateway();
    gateway.rail.script.completion = completion;
    expect(await complete('123456')).toMatchObject({ status, body: { responseDetails } });
    expect(onlyStored(gateway)).toMatchObject({ status: 'PENDING', completionAttempts: tries });
  });
});

describe('check-status', () => {
  const check = (
    gateway: Gateway,
    transactionReference: string,
    more: Readonly<Record<string, unknown>> = {},
  ) => {
    const requestHeader = { clientId: '', requestType: 'GM-Collections' };
    return gateway.send({
      path: 'check-status',
      body: { requestHeader, transactionReference, transactionCountry: 'GM', ...more },
    });
  };
  const says = (responseCode: string, responseMessage: string) => ({
    status: 200,
    body: { serverResponse: { responseDetails: { responseMessage, responseCode } } },
  });

  it("tells each state by the merchant's reference and by ours", async () => {
    const gateway = openGateway();
    const reference = referenceOf(await gateway.send({ path: 'payin', body: payinBody() }));
    expect(await check(gateway, 'order-1')).toEqual(says('09', 'PENDING'));
    await gateway.observe({ reference, status: 'completed' });
    expect(await check(gateway, 'order-1')).toEqual(says('00', 'COMPLETED'));
    expect(await check(gateway, reference)).toEqual(says('00', 'COMPLETED'));
    expect(await check(gateway, 'order-2')).toEqual(says('25', 'NOT FOUND'));
  });

  it('rejects everything else with four fields', async () => {
    const gateway = openGateway();
    const wrong = [
      await check(gateway, 'order 1'),
      await check(gateway, 'order-1', { transactionCountry: 'Gambia' }),
      await check(gateway, 'order-1', { requestHeader: { clientId: '', requestType: '' } }),
      await gateway.send({ path: 'check-status', body: '{' }),
      await gateway.send({ path: 'check-status', body: '{}', headers: { 'x-app': '' } }),
      await gateway.send({ path: 'check-status', body: '{}', headers: { 'x-business': 'x' } }),
      await gateway.send({
        path: 'check-status',
        body: {
          requestHeader: { requestType: 'x' },
          transactionReference: 'order-1',
          transactionCountry: 'GM',
        },
        module: 'order-2',
      }),
    ];
    for (const answer of wrong) {
      expect(answer).toEqual({
        status: 400,
        body: {
          timestamp: '2025-01-15T12:00:00.000Z',
          status: 400,
          error: 'Bad Request',
          path: '/collection/v1/check-status',
        },
      });
    }
  });
});

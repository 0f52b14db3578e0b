import { collectionCountries } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { failed, nothingFurther, onlyStored, pending, referenceOf, typesOf } from './fixtures/answers.ts';
import { ivoryCoast, openGateway, payinBody } from './fixtures/gateway.ts';

const awaitingOtp = {
  ...nothingFurther,
  otpIsRequired: true,
  lengthOfOtp: 6,
  paymentCompletionRequired: true,
  paymentCompletionUrl: '/collection/v1/complete-payin',
};
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

  it('is refused while too much waits for Kafka, and a duplicate is answered all the same', async () => {
    const gateway = openGateway();
    await gateway.send({ path: 'payin', body: payinBody() });
    gateway.outbox.isFull = true;
    const again = await gateway.send({ path: 'payin', body: payinBody() });
    expect(again).toMatchObject({ status: 200, body: { responseDetails: failed('DUPLICATE REFERENCE') } });
    const next = payinBody({ transactionReference: 'order-2' });
    const refused = await gateway.send({ path: 'payin', body: next });
    expect(refused).toMatchObject({
      status: 503,
      body: { responseDetails: { responseCode: '06', failedReason: 'SERVICE UNAVAILABLE' } },
    });
    expect([gateway.stored.size, gateway.rail.initiations.length]).toEqual([1, 1]);
    gateway.outbox.isFull = false;
    expect(await gateway.send({ path: 'payin', body: next })).toMatchObject({ status: 200 });
  });

  it('is refused while it is paused, and a duplicate is answered all the same (ADR 77)', async () => {
    const gateway = openGateway();
    await gateway.send({ path: 'payin', body: payinBody() });
    gateway.pauses.isPaused = true;
    const again = await gateway.send({ path: 'payin', body: payinBody() });
    expect(again).toMatchObject({ status: 200, body: { responseDetails: failed('DUPLICATE REFERENCE') } });
    const next = payinBody({ transactionReference: 'order-2' });
    expect(await gateway.send({ path: 'payin', body: next })).toMatchObject({
      status: 503,
      body: {
        responseDetails: {
          failedReason: 'SERVICE UNAVAILABLE',
          statusDescription: 'collections are paused: nothing was recorded, send it again later',
        },
      },
    });
    expect([gateway.stored.size, gateway.rail.initiations.length]).toEqual([1, 1]);
    gateway.pauses.isPaused = false;
    expect(await gateway.send({ path: 'payin', body: next })).toMatchObject({ status: 200 });
  });

  it("by link answers the rail's link", async () => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'acknowledged', redirectionUrl: 'https://pay.example/1' };
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
    const late = Promise.withResolvers<{ kind: 'acknowledged'; redirectionUrl: string }>();
    gateway.rail.script.initiation = late.promise;
    gateway.expireDeadlines();
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    expect(answer).toMatchObject({ status: 200, body: { responseDetails: pending, ...awaitingOtp } });
    expect(onlyStored(gateway)?.step).toBe('initiating');
    late.resolve({ kind: 'acknowledged', redirectionUrl: '' });
    await gateway.answerDeadline[Symbol.asyncDispose]();
    expect(onlyStored(gateway)?.step).toBe('awaitingOtp');
  });

  it('whose commit takes too long may or may not be recorded, and goes on where it is', async () => {
    const committed = Promise.withResolvers<void>();
    const whole = openGateway();
    const gateway = openGateway({
      collections: {
        find: async () => undefined,
        accept: async (...order) => {
          await committed.promise;
          return whole.collections.accept(...order);
        },
      },
      initiate: whole.initiate,
    });
    gateway.expireDeadlines();
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    expect(answer).toMatchObject({
      status: 503,
      body: { responseDetails: failed('SERVICE UNAVAILABLE'), transactionReference: '' },
    });
    expect(whole.rail.initiations).toHaveLength(0);
    committed.resolve();
    await gateway.answerDeadline[Symbol.asyncDispose]();
    expect(whole.rail.initiations).toHaveLength(1);
    expect(onlyStored(whole)?.step).toBe('awaitingOtp');
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

  it.each([
    'INVALID REQUEST',
    'incorrect security module',
    'UNAUTHORIZED',
    'DUPLICATE REFERENCE',
    'REQUEST MISMATCH',
    'UNKNOWN REFERENCE',
    'TOO MANY REQUESTS',
    'INTERNAL ERROR',
    'SERVICE UNAVAILABLE',
  ])('that the rail refuses for %s, which is between it and us, is DECLINED BY OPERATOR', async (reason) => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'failed', reason };
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    const stored = onlyStored(gateway);
    expect(answer).toEqual({
      status: 200,
      body: {
        responseDetails: failed('DECLINED BY OPERATOR'),
        transactionReference: stored?.reference,
        ...nothingFurther,
      },
    });
    expect(stored).toMatchObject({ status: 'FAILED', failureReason: 'DECLINED BY OPERATOR' });
    expect(gateway.emitted[1]?.payload).toMatchObject({ failureReason: 'DECLINED BY OPERATOR' });
  });

  it.each([
    ['OPERATOR NOT AVAILABLE', 'OPERATOR NOT AVAILABLE'],
    ['Invalid amount', 'INVALID AMOUNT'],
    ['not\u202e  registered\u0007', 'NOT REGISTERED'],
    ['', 'FAILED'],
  ])('reports the rail’s reason %j as %s', async (reason, shown) => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'failed', reason };
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    expect(answer).toMatchObject({ status: 200, body: { responseDetails: failed(shown) } });
  });

  it('by link that was certainly not sent fails at once: its link could not reach the customer', async () => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'notSent', why: 'circuit open', retryAfterMs: 5_000 };
    const answer = await gateway.send({ path: 'payin', body: payinBody({ operatorCode: 'GMWAV' }) });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        responseDetails: failed('OPERATOR NOT AVAILABLE'),
        transactionReference: onlyStored(gateway)?.reference,
      },
    });
    expect(typesOf(gateway)).toEqual(['CollectionInitiated', 'CollectionFailed']);
  });

  it('is initiated once: a repeated reference is a duplicate, before mobile operator and amount', async () => {
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
    ['a mobile operator of another country', { operatorCode: 'CIMTN' }, 'OPERATOR NOT AVAILABLE'],
    ['an unknown mobile operator', { operatorCode: 'GMXYZ' }, 'OPERATOR NOT AVAILABLE'],
    ['another currency', { transactionCurrency: 'XOF' }, 'OPERATOR NOT AVAILABLE'],
    ['a mobile operator without a rail', { ...ivoryCoast, operatorCode: 'CIMOO' }, 'OPERATOR NOT AVAILABLE'],
    ['an amount of nothing', { transactionAmount: 0 }, 'INVALID AMOUNT'],
    ["no multiple of five in Cote d'Ivoire", { ...ivoryCoast, transactionAmount: 101 }, 'INVALID AMOUNT'],
    [
      'mobile operator and amount wrong',
      { operatorCode: 'GMXYZ', transactionAmount: 0 },
      'OPERATOR NOT AVAILABLE',
    ],
  ])('with %s is refused', async (_name, changes, reason) => {
    const gateway = openGateway();
    const answer = await gateway.send({ path: 'payin', body: payinBody(changes) });
    expect(answer).toEqual({
      status: 200,
      body: { responseDetails: failed(reason), transactionReference: '', ...nothingFurther },
    });
    expect([gateway.stored.size, gateway.rail.initiations.length, gateway.emitted.length]).toEqual([0, 0, 0]);
  });

  it.each<[object, string]>([
    [{ operatorCode: 'CIMTN' }, 'operatorCode must be one of GMWAV, GMAFR, GMQMO in GM'],
    [{ operatorCode: 'GMXYZ' }, 'operatorCode must be one of GMWAV, GMAFR, GMQMO in GM'],
    [{ transactionCurrency: 'XOF' }, 'transactionCurrency must be GMD in GM'],
    [{ transactionCountry: 'NG' }, `transactionCountry must be one of ${collectionCountries.join(', ')}`],
    [{ ...ivoryCoast, operatorCode: 'CIMOO' }, 'operatorCode CIMOO is not served at present'],
  ])('with %j is told what fits', async (changes, statusDescription) => {
    const { body } = await openGateway().send({ path: 'payin', body: payinBody({ ...changes }) });
    expect(body['responseDetails']).toMatchObject({
      failedReason: 'OPERATOR NOT AVAILABLE',
      statusDescription,
    });
  });
});

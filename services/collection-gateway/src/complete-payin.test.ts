import { describe, expect, it } from 'vitest';
import { failed, nothingFurther, onlyStored, pending, referenceOf, typesOf } from './fixtures/answers.ts';
import { ivoryCoast, openGateway, payinBody } from './fixtures/gateway.ts';

/** Lets everything run that waits for nothing. */
const tick = () => new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));

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

  it('passes nothing on while too much waits for Kafka, and counts no try', async () => {
    const { gateway, complete } = await initiatedGateway();
    gateway.outbox.isFull = true;
    for (const _ of [1, 2, 3, 4]) expect(await complete('987654')).toMatchObject({ status: 503 });
    expect(gateway.rail.completions).toEqual([]);
    gateway.outbox.isFull = false;
    expect(await complete('987654')).toMatchObject({ status: 200 });
    expect(gateway.rail.completions).toHaveLength(1);
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
    ['of GMAFR with an OTP', { operatorCode: 'GMAFR' }, { otpCode: '123456' }, 400, 'INVALID REQUEST'],
    ['of another amount', {}, { otpCode: '123456', transactionAmount: 99 }, 200, 'REQUEST MISMATCH'],
    ['of another mobile operator', {}, { operatorCode: 'GMAFR' }, 200, 'REQUEST MISMATCH'],
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

  it.each(['OTP EXPIRED', 'otp attempts exceeded'])(
    'that the rail refuses for good (%s) closes it at any try, once',
    async (reason) => {
      const { gateway, complete } = await initiatedGateway();
      gateway.rail.script.completion = { kind: 'refused', reason };
      expect((await complete('123456')).body['responseDetails']).toEqual(failed(reason.toUpperCase()));
      expect((await complete('123456')).body['responseDetails']).toEqual(failed('OTP EXPIRED'));
      expect(gateway.rail.completions).toHaveLength(1);
      expect(onlyStored(gateway)).toMatchObject({ status: 'PENDING', completionClosed: true });
      expect(typesOf(gateway).filter((type) => type === 'CollectionCompletionClosed')).toHaveLength(1);
    },
  );

  it('of a collection that is closed at the rail alone goes on: the rail’s status has the end', async () => {
    const { gateway, complete, reference } = await initiatedGateway();
    gateway.rail.script.completion = { kind: 'refused', reason: 'COLLECTION CLOSED' };
    for (let round = 0; round < 2; round += 1)
      expect(await complete('123456')).toMatchObject({
        status: 200,
        body: { responseDetails: pending, transactionReference: reference },
      });
    expect(gateway.rail.completions).toHaveLength(1);
    expect(typesOf(gateway).filter((type) => type === 'CollectionCompletionClosed')).toHaveLength(1);
  });

  it('of GMAFR is passed on ten times at the most, then the rail is asked', async () => {
    const { gateway, complete } = await initiatedGateway({ operatorCode: 'GMAFR' });
    gateway.rail.script.completion = { kind: 'refused', reason: 'NOT APPROVED YET' };
    for (let round = 0; round < 10; round += 1)
      expect((await complete()).body['responseDetails']).toEqual(failed('NOT APPROVED YET'));
    for (let round = 0; round < 2; round += 1)
      expect((await complete()).body['responseDetails']).toMatchObject({
        failedReason: 'COMPLETION NOT REQUIRED',
      });
    expect(gateway.rail.completions).toHaveLength(10);
    expect(typesOf(gateway).filter((type) => type === 'CollectionCompletionClosed')).toHaveLength(1);
  });

  it.each(['REQUEST MISMATCH', 'INVALID REQUEST', 'Duplicate reference', 'INCORRECT SECURITY MODULE'])(
    'that the rail refuses for %s, which is between it and us, is DECLINED BY OPERATOR',
    async (reason) => {
      const { gateway, complete } = await initiatedGateway();
      gateway.rail.script.completion = { kind: 'refused', reason };
      expect(await complete('123456')).toMatchObject({
        status: 200,
        body: { responseDetails: failed('DECLINED BY OPERATOR') },
      });
    },
  );

  describe('that waits for another', () => {
    const underWay = async () => {
      const initiated = await initiatedGateway();
      const first = Promise.withResolvers<typeof wrongOtp>();
      initiated.gateway.rail.script.completion = first.promise;
      const answer = initiated.complete('111111');
      await expect.poll(() => initiated.gateway.rail.completions).toHaveLength(1);
      return { ...initiated, end: () => first.resolve(wrongOtp), answer };
    };
    const notPassedOn = {
      status: 503,
      body: {
        responseDetails: {
          ...failed('SERVICE UNAVAILABLE'),
          statusDescription: expect.any(String) as string,
        },
      },
    };

    it('does not take the lock where too little time is left for the rail to answer in', async () => {
      const { gateway, complete, end, answer } = await underWay();
      const endsAtMs = gateway.nowMs() + 8_000;
      const second = complete('222222');
      while (gateway.nowMs() < endsAtMs && (await Promise.race([second, tick()])) === undefined);
      end();
      expect(await second).toMatchObject(notPassedOn);
      expect((await answer).body['responseDetails']).toEqual(failed('INCORRECT OTP'));
      expect(gateway.rail.completions).toHaveLength(1);
      expect(onlyStored(gateway)).toMatchObject({ completionAttempts: 1 });
    });

    it('waits no longer once we close, and begins no further call', async () => {
      const { gateway, complete, end, answer } = await underWay();
      const startMs = gateway.nowMs();
      const second = complete('222222');
      await gateway.completer[Symbol.asyncDispose]();
      expect(await second).toMatchObject(notPassedOn);
      expect(gateway.nowMs() - startMs).toBeLessThan(2_000);
      end();
      await answer;
      expect(await complete('333333')).toMatchObject(notPassedOn);
      expect(gateway.rail.completions).toHaveLength(1);
      expect(onlyStored(gateway)).toMatchObject({ completionAttempts: 1 });
    });
  });
});

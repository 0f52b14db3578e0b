import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { collections, expectPending, type PayinAnswer } from '../collections.ts';
import { number } from '../conformance.ts';
import { customerIn, next, payinBody, revised, withOtp } from './collection-requests.ts';

const wholeSeconds = /^[1-9]\d*$/;

const expectTooMany = (answer: PayinAnswer): void => {
  expect(answer).toMatchObject({ status: 429, reason: 'TOO MANY REQUESTS', reference: '' });
  expect(answer.headers['retry-after']).toMatch(wholeSeconds);
};

/** A merchant that may make one request a second: of three at once at least one is too many, however slow the machine is. */
const addSlowMerchant = (id: string) => collections.addMerchant(id, { limits: { requestsPerSecond: 1 } });

const threeTimes = <Value>(ask: () => Promise<Value>): Promise<readonly Value[]> =>
  Promise.all([ask(), ask(), ask()]);

describe('contract 10.17: the rate of one merchant', () => {
  it('beyond it is TOO MANY REQUESTS with Retry-After, stores nothing, and leaves others alone', async () => {
    const key = await addSlowMerchant('flood');
    const bodies = Array.from({ length: 3 }, () => payinBody(next('flood')));
    const flood = await Promise.all(bodies.map((body) => collections.payin(body, { key })));
    const others = await Promise.all(Array.from({ length: 20 }, () => collections.check('nobody-has-it')));
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set(['25']));
    const refused = flood.flatMap((answer, index) =>
      answer.status === 429 ? [[answer, bodies[index]] as const] : [],
    );
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(flood.length);
    for (const [answer] of refused) expectTooMany(answer);
    const [, again = ''] = refused[0] ?? [];
    await eventually(async () => expectPending(await collections.payin(again, { key })));
  });

  it('applies to all three operations; check-status answers it with its four fields', async () => {
    const key = await addSlowMerchant('rate');
    const body = payinBody(next('rate'));
    const payins = await threeTimes(() => collections.payin(body, { key, module: null }));
    const completions = await threeTimes(() => collections.complete(withOtp(body), { key }));
    for (const answers of [payins, completions]) {
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThan(0);
      for (const answer of refused) expectTooMany(answer);
    }
    const checks = await threeTimes(() => collections.check('nobody-has-it', { key }));
    const refusals = checks.filter(({ status }) => status !== 200);
    expect(refusals.length).toBeGreaterThan(0);
    for (const { status, error, headers } of refusals) {
      expect([status, error]).toEqual([429, 'Too Many Requests']);
      expect(headers['retry-after']).toMatch(wholeSeconds);
    }
  });

  it('is judged after the key and before the format', async () => {
    const key = await addSlowMerchant('malformed');
    const answers = await threeTimes(() => collections.payin('{', { key }));
    expect(new Set(answers.map(({ reason }) => reason))).toEqual(
      new Set(['INVALID REQUEST', 'TOO MANY REQUESTS']),
    );
    const strangers = await threeTimes(() => collections.payin('{', { key, app: 'web' }));
    expect(new Set(strangers.map(({ reason }) => reason))).toEqual(new Set(['UNAUTHORIZED']));
  });
});

describe('contract 10.17: how often one customer may be asked', () => {
  const limits = { requestsPerSecond: 1_000, collectionsPerNumberPerHour: 3 };

  it('the fourth within an hour is TOO MANY REQUESTS; its reference is free for another number', async () => {
    const key = await collections.addMerchant('bombing', { limits });
    const customerNumber = customerIn('GM', '0017');
    const ask = (reference: string, changes = {}, operatorCode = 'GMWAV') =>
      collections.payin(payinBody(reference, { customerNumber, ...changes }, operatorCode), { key });
    for (const operatorCode of ['GMWAV', 'GMAFR', 'GMQMO'])
      expectPending(await ask(next('number'), {}, operatorCode));
    const reference = next('number');
    for (let round = 0; round < 3; round += 1) expectTooMany(await ask(reference));
    expectTooMany(await ask(reference, { customerNumber: `+${customerNumber}` }));
    expect((await collections.check(reference, { key })).code).toBe('25');
    expectPending(await ask(reference, { customerNumber: customerIn('GM') }));
  });

  it('what is refused for another reason counts for nothing', async () => {
    const key = await collections.addMerchant('mistakes', { limits });
    const customerNumber = customerIn('GM');
    const first = payinBody(next('number'), { customerNumber });
    expectPending(await collections.payin(first, { key }));
    for (let round = 0; round < 4; round += 1) {
      const other = payinBody(next('number'), { customerNumber });
      const refused = [
        await collections.payin(first, { key }),
        await collections.payin(other, { key, module: null }),
        await collections.payin(revised(other, { operatorCode: 'GMXXX' }), { key }),
        await collections.payin(revised(other, { transactionAmount: number('0') }), { key }),
        await collections.payin(revised(other, { operatorCode: '' }), { key }),
      ];
      expect(refused.map(({ reason }) => reason)).toEqual([
        'DUPLICATE REFERENCE',
        'INCORRECT SECURITY MODULE',
        'OPERATOR NOT AVAILABLE',
        'INVALID AMOUNT',
        'INVALID REQUEST',
      ]);
    }
    for (let round = 0; round < 2; round += 1)
      expectPending(await collections.payin(payinBody(next('number'), { customerNumber }), { key }));
    expectTooMany(await collections.payin(payinBody(next('number'), { customerNumber }), { key }));
  });

  it('of ten at once three are asked', async () => {
    const key = await collections.addMerchant('at-once', { limits });
    const customerNumber = customerIn('GM');
    const bodies = Array.from({ length: 10 }, () => payinBody(next('number'), { customerNumber }));
    const answers = await Promise.all(bodies.map((body) => collections.payin(body, { key })));
    expect(answers.filter(({ code }) => code === '09')).toHaveLength(3);
    for (const answer of answers) if (answer.code !== '09') expectTooMany(answer);
  });
});

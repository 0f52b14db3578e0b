import { describe, expect, it } from 'vitest';
import { becomes, collections, expectPending, type PayinAnswer } from '../collections.ts';
import { type Changes, number } from '../conformance.ts';
import { customerIn, next, payinBody, revised, withOtp } from './collection-requests.ts';

const expectRepeat = (answer: PayinAnswer, ours: string): void => {
  expect(answer).toMatchObject({ status: 200, code: '06', reason: 'DUPLICATE REFERENCE', reference: ours });
};

describe.concurrent('contract 7: a transactionReference is used once, for ever', () => {
  it.each<readonly [string, Changes]>([
    ['the same again', {}],
    ['another amount', { transactionAmount: number('101') }],
    ['another customer', { customerNumber: '2209990000' }],
    ['another mobile operator', { operatorCode: 'GMWAV' }],
    ['an unknown mobile operator', { operatorCode: 'GMXXX' }],
    ['an amount that is none', { transactionAmount: number('0.001') }],
    ['another name', { customerName: 'Another' }],
  ])('%s is DUPLICATE REFERENCE', async (_what, changes) => {
    const body = payinBody(next('twice'));
    const ours = expectPending(await collections.payin(body));
    for (let round = 0; round < 3; round += 1)
      expectRepeat(await collections.payin(revised(body, changes)), ours);
    expect((await collections.scenario.stack.simulator.journal(ours)).length).toBe(1);
  });

  it.each([
    ['completed', '9999', '00'],
    ['failed', '0001', '06'],
  ])('one that has %s too', async (_what, digits, code) => {
    const reference = next('ended');
    const body = payinBody(reference, { customerNumber: customerIn('KE', digits) }, 'KESAF');
    const ours = expectPending(await collections.payin(body));
    await becomes(reference, code);
    expectRepeat(await collections.payin(body), ours);
    expect((await collections.check(reference)).code).toBe(code);
  });

  it('references are distinguished by their bytes', async () => {
    const reference = next('bytes');
    const ours = [reference, reference.toUpperCase(), `${reference}.`, `${reference}0`];
    for (const one of ours) expectPending(await collections.payin(payinBody(one)));
  });

  it('each merchant has references of its own', async () => {
    const reference = next('rivals');
    const mine = expectPending(await collections.payin(payinBody(reference)));
    const key = collections.rivalKey;
    const theirs = expectPending(await collections.payin(payinBody(reference), { key }));
    expect(theirs).not.toBe(mine);
    expectRepeat(await collections.payin(payinBody(reference), { key }), theirs);
    expectRepeat(await collections.payin(payinBody(reference)), mine);
  });

  it('our own reference of another collection may be a merchant’s', async () => {
    const ours = expectPending(await collections.payin(payinBody(next('ours'))));
    expect(expectPending(await collections.payin(payinBody(ours)))).not.toBe(ours);
  });
});

describe('invariant P5: repeats at once', () => {
  it('of 50 in parallel exactly one is 09, and the rail is asked once', async () => {
    const body = payinBody(next('parallel'));
    const answers = await Promise.all(Array.from({ length: 50 }, () => collections.payin(body)));
    const accepted = answers.filter(({ code }) => code === '09');
    expect(accepted).toHaveLength(1);
    const ours = accepted[0]?.reference ?? '';
    for (const answer of answers) if (answer.code !== '09') expectRepeat(answer, ours);
    const journal = await collections.scenario.stack.simulator.journal(ours);
    expect(journal.filter(({ operation }) => operation === 'payin')).toHaveLength(1);
  });

  it('of 50 with a content each, one is taken as it is', async () => {
    const reference = next('contents');
    const customerNumber = customerIn('GM');
    const bodies = Array.from({ length: 50 }, (_none, index) =>
      payinBody(reference, { customerNumber, transactionAmount: number(String(index + 1)) }),
    );
    const answers = await Promise.all(bodies.map((body) => collections.payin(body)));
    const taken = answers.findIndex(({ code }) => code === '09');
    expect(answers.filter(({ code }) => code === '09')).toHaveLength(1);
    const [asked] = await collections.scenario.stack.simulator.journal(answers[taken]?.reference ?? '');
    expect(asked?.amount).toBe(String(taken + 1));
    // Only the content that was accepted completes it.
    for (const [index, body] of bodies.slice(0, 3).entries()) {
      if (index === taken) continue;
      expect(await collections.complete(withOtp(body))).toMatchObject({ reason: 'REQUEST MISMATCH' });
    }
    expectPending(await collections.complete(withOtp(bodies[taken] ?? '')));
  });
});

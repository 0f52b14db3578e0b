import { describe, expect, it } from 'vitest';
import { becomes, collections, completions, expectPending } from '../collections.ts';
import { customerIn, next, payinBody, revised, withOtp, words } from './collection-requests.ts';

const malformed: readonly unknown[] = [
  ...words(
    '1 123 12345 1234567 xxxxxx 12a456 -12345 +12345 123-456 １２３４５６ ١٢٣٤٥٦ १२३४५६ 0x1234 1e5000 123.45',
  ),
  '',
  '   ',
  ' 123456',
  '123456 ',
  '123 456',
  '12345\u0000',
  '123456\n',
  123_456,
  12_345,
  true,
  undefined,
  null,
  ['123456'],
  { $ne: '' },
  { $gt: '' },
  {},
];

describe.concurrent('contract 8: an OTP is as many digits as the mobile operator’s', () => {
  it.each(malformed)('six digits: %j is INVALID REQUEST, and no try', async (otpCode) => {
    const body = payinBody(next('otp'));
    const ours = expectPending(await collections.payin(body));
    for (const code of [otpCode, '1234']) {
      const answer = await collections.complete(revised(body, { otpCode: code }));
      expect(answer).toMatchObject({ status: 400, reason: 'INVALID REQUEST' });
      expect(answer.description).toMatch(/^otpCode /);
    }
    expect(await completions(ours)).toEqual([]);
  });

  it.each([undefined, '', '123', '12345', '123456', '12a4', '１２３４', 1234, ['1234'], '12 34'])(
    'four digits: %j is INVALID REQUEST, and no try',
    async (otpCode) => {
      const body = payinBody(next('otp'), {}, 'CIORA');
      const ours = expectPending(await collections.payin(body));
      const answer = await collections.complete(revised(body, { otpCode }));
      expect(answer).toMatchObject({ status: 400, reason: 'INVALID REQUEST' });
      expect(answer.description).toMatch(/^otpCode /);
      expect(await completions(ours)).toEqual([]);
    },
  );

  it('GMAFR completes without: one that is sent all the same is INVALID REQUEST', async () => {
    const body = payinBody(next('otp'), {}, 'GMAFR');
    const ours = expectPending(await collections.payin(body));
    const answer = await collections.complete(withOtp(body));
    expect(answer).toMatchObject({ status: 400, reason: 'INVALID REQUEST' });
    expect(answer.description).toMatch(/^otpCode /);
    expect(await completions(ours)).toEqual([]);
    for (const otpCode of ['', null]) expectPending(await collections.complete(revised(body, { otpCode })));
  });

  it('a leading zero counts', async () => {
    const body = payinBody(next('zero'));
    expectPending(await collections.payin(body));
    expect(await collections.complete(withOtp(body, '012345'))).toMatchObject({ reason: 'INCORRECT OTP' });
  });

  it('no malformed one uses up a try', async () => {
    const body = payinBody(next('tries'));
    const ours = expectPending(await collections.payin(body));
    for (let round = 0; round < 5; round += 1)
      expect((await collections.complete(withOtp(body, '12345'))).status).toBe(400);
    expectPending(await collections.complete(withOtp(body)));
    expect(await completions(ours)).toEqual(['accepted']);
  });
});

describe.concurrent('contract 10.12: at most three tries', () => {
  it('two wrong ones, then the right one', async () => {
    const reference = next('third');
    const body = payinBody(reference);
    const ours = expectPending(await collections.payin(body));
    for (const otp of ['000000', '999999'])
      expect(await collections.complete(withOtp(body, otp))).toMatchObject({
        status: 200,
        reason: 'INCORRECT OTP',
        reference: ours,
      });
    expectPending(await collections.complete(withOtp(body)));
    await becomes(reference, '00');
    expect(await completions(ours)).toEqual(['incorrect otp', 'incorrect otp', 'accepted']);
  });

  it.each([
    ['GMQMO', ['000000', '000001', '000002'], '123456'],
    ['CIORA', ['0000', '0001', '0002'], '1234'],
  ])('%s: three wrong ones, and the right one is too late', async (operatorCode, wrong, right) => {
    const reference = next('locked');
    const body = payinBody(reference, {}, operatorCode);
    const ours = expectPending(await collections.payin(body));
    for (const otp of wrong) {
      const { reason } = await collections.complete(withOtp(body, otp));
      expect(otp === wrong[2] ? ['INCORRECT OTP', 'OTP ATTEMPTS EXCEEDED'] : ['INCORRECT OTP']).toContain(
        reason,
      );
    }
    const late = await collections.complete(withOtp(body, right));
    expect(late).toMatchObject({ status: 200, code: '06', reference: ours });
    expect(['OTP ATTEMPTS EXCEEDED', 'COLLECTION CLOSED']).toContain(late.reason);
    // The rail's status ends it.
    await becomes(reference, '06');
    expect(await collections.complete(withOtp(body, right))).toMatchObject({ reason: 'COLLECTION CLOSED' });
    expect(await completions(ours)).toEqual(['incorrect otp', 'incorrect otp', 'incorrect otp']);
  });

  it('of 20 wrong ones at once at most three reach the rail', async () => {
    const reference = next('guessing');
    const body = payinBody(reference);
    const ours = expectPending(await collections.payin(body));
    const guesses = Array.from({ length: 20 }, (_none, index) => String(900_000 + index));
    const answers = await Promise.all(guesses.map((otp) => collections.complete(withOtp(body, otp))));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const tried = await completions(ours);
    expect(tried.length).toBeLessThanOrEqual(3);
    expect(tried.every((outcome) => outcome === 'incorrect otp')).toBe(true);
  });

  it('locks one collection, and no other of the same merchant and customer', async () => {
    const customerNumber = customerIn('GM');
    const [locked, other] = [next('one'), next('other')].map((one) => payinBody(one, { customerNumber }));
    expectPending(await collections.payin(locked));
    expectPending(await collections.payin(other));
    for (const otp of ['000000', '000001', '000002']) await collections.complete(withOtp(locked ?? '', otp));
    expectPending(await collections.complete(withOtp(other ?? '')));
  });
});

describe.concurrent('contract 10.12: one completion at a time', () => {
  it.each([2, 10])('of %i right ones at once the rail is asked once', async (count) => {
    const reference = next('once');
    const body = payinBody(reference);
    const ours = expectPending(await collections.payin(body));
    const answers = await Promise.all(
      Array.from({ length: count }, () => collections.complete(withOtp(body))),
    );
    expect(answers.filter(({ code }) => code === '09').length).toBeGreaterThanOrEqual(1);
    await becomes(reference, '00');
    const journal = await collections.scenario.stack.simulator.journal(ours);
    const entries = journal.map(({ kind, operation, outcome }) => `${kind} ${operation} ${outcome}`);
    expect(entries.filter((entry) => entry.startsWith('request complete'))).toEqual([
      'request complete accepted',
    ]);
    expect(entries.filter((entry) => entry.startsWith('execution'))).toEqual(['execution payin COMPLETED']);
  });

  it('of two of GMAFR at once too', async () => {
    const reference = next('once');
    const body = payinBody(reference, {}, 'GMAFR');
    const ours = expectPending(await collections.payin(body));
    await Promise.all([collections.complete(body), collections.complete(body)]);
    await becomes(reference, '00');
    expect(await completions(ours)).toEqual(['accepted']);
  });

  it('the right one again, while it goes on, gets the same answer', async () => {
    const body = payinBody(next('again'), { customerNumber: customerIn('GM', '0017') });
    const ours = expectPending(await collections.payin(body));
    const first = await collections.complete(withOtp(body));
    const second = await collections.complete(withOtp(body));
    expect(expectPending(first)).toBe(ours);
    expect(second.text).toBe(first.text);
    expect(await completions(ours)).toEqual(['accepted']);
  });
});

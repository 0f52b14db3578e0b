import { describe, expect, it } from 'vitest';
import { collections, expectNothing, expectPending, type Liberties } from '../collections.ts';
import { type Changes, number } from '../conformance.ts';
import { base64, customerIn, next, payinBody, revised, withOtp } from './collection-requests.ts';

interface Fault {
  readonly reason: string;
  readonly changes?: Changes;
  readonly liberties?: Liberties;
}

// In the order of contract 10.2; the rate limit, which comes second, is tested in collection-rates.ts.
const faults: readonly Fault[] = [
  { reason: 'UNAUTHORIZED', liberties: { key: 'a-key-that-nobody-has' } },
  { reason: 'INVALID REQUEST', changes: { 'requestHeader.requestType': '' } },
  { reason: 'INCORRECT SECURITY MODULE', liberties: { module: 'AAAA' } },
  { reason: 'DUPLICATE REFERENCE' },
  { reason: 'OPERATOR NOT AVAILABLE', changes: { operatorCode: 'GMXXX' } },
  { reason: 'INVALID AMOUNT', changes: { transactionAmount: number('0') } },
];
const pairs = faults.flatMap((first, index) =>
  faults.slice(index + 1).map((second) => [first, second] as const),
);
const isRepeat = ({ reason }: Fault): boolean => reason === 'DUPLICATE REFERENCE';

describe('contract 10.2: the order of the checks of payin', () => {
  it.each(pairs.map(([first, second]) => [first.reason, second.reason, first, second] as const))(
    '%s before %s',
    async (_before, _after, first, second) => {
      const reference = next('order');
      const isUsed = isRepeat(first) || isRepeat(second);
      const body = payinBody(reference);
      if (isUsed) expectPending(await collections.payin(body));
      const wrong = revised(body, { ...second.changes, ...first.changes });
      const liberties = { ...second.liberties, ...first.liberties };
      const answer = await collections.payin(wrong, liberties);
      expect(answer).toMatchObject({ code: '06', reason: first.reason });
      expect((await collections.check(reference)).code).toBe(isUsed ? '09' : '25');
    },
  );

  it('an address that may not be called is a matter of form', async () => {
    const reference = next('order');
    const body = payinBody(reference, { webhookUrl: 'http://127.0.0.1/', operatorCode: 'GMXXX' });
    await expectNothing(
      reference,
      await collections.payin(body, { module: null }),
      'INVALID REQUEST',
      'webhookUrl',
    );
  });

  it('a body that can’t be read is refused after a stranger, and before the module', async () => {
    for (const operation of [collections.payin, collections.complete]) {
      expect(await operation('{', { key: null })).toMatchObject({ reason: 'UNAUTHORIZED' });
      expect(await operation('{', { app: 'web' })).toMatchObject({ reason: 'UNAUTHORIZED' });
      expect(await operation('{', { module: null })).toMatchObject({ reason: 'INVALID REQUEST' });
    }
  });
});

describe('contract 10.2: the order of the checks of complete-payin', () => {
  it('format, security module, reference, content, flow', async () => {
    const reference = next('order');
    const body = payinBody(reference, {}, 'GMWAV');
    const otp = withOtp(body, 'abc');
    expect(await collections.complete(otp, { key: null })).toMatchObject({ reason: 'UNAUTHORIZED' });
    expect(await collections.complete(otp, { module: null })).toMatchObject({
      reason: 'INVALID REQUEST',
      description: expect.stringContaining('otpCode') as string,
    });
    expect(await collections.complete(body, { module: null })).toMatchObject({
      reason: 'INCORRECT SECURITY MODULE',
    });
    expect(await collections.complete(body)).toMatchObject({ reason: 'UNKNOWN REFERENCE' });
    expectPending(await collections.payin(body));
    const differing = revised(body, { customerNumber: customerIn('GM') });
    expect(await collections.complete(differing, { module: base64('x') })).toMatchObject({
      reason: 'INCORRECT SECURITY MODULE',
    });
    expect(await collections.complete(differing)).toMatchObject({ reason: 'REQUEST MISMATCH' });
    expect(await collections.complete(body)).toMatchObject({ reason: 'COMPLETION NOT REQUIRED' });
  });
});

describe('P3: a refused collection leaves nothing', () => {
  it('no record, no request to the rail, no webhook, and its reference is free', async () => {
    const { simulator } = collections.scenario.stack;
    const key = await collections.addMerchant('refused');
    const reference = next('free');
    const customerNumber = customerIn('GH');
    const body = payinBody(reference, { customerNumber }, 'GHMTN');
    const marked = (changes: Changes) => revised(body, { transactionAmount: number('471.13'), ...changes });
    const refused: readonly (readonly [string, string, Liberties?])[] = [
      [marked({ transactionType: '' }), 'INVALID REQUEST'],
      [marked({}), 'INCORRECT SECURITY MODULE', { module: null }],
      [marked({ operatorCode: 'GMQMO' }), 'OPERATOR NOT AVAILABLE'],
      [marked({ transactionAmount: number('471.131') }), 'INVALID AMOUNT'],
    ];
    for (const [text, reason, liberties] of refused)
      expect(await collections.payin(text, { key, ...liberties })).toMatchObject({ reason, reference: '' });
    const ours = expectPending(await collections.payin(body, { key }));
    await expect.poll(() => simulator.received('refused', reference), { timeout: 30_000 }).toHaveLength(1);
    const journal = await fetch(`${collections.scenario.stack.runFile().simulatorUrl}/control/journal`);
    const text = await journal.text();
    expect(text).toContain(ours);
    expect(text).not.toMatch(/"amount":"471/);
  });
});

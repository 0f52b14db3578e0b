import { openTestScope, prepareTestEnvironment, type TestConfig, type TestScope } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batch, merchantWith, openReplica, single } from './acceptance.fixture.ts';

type Replica = Awaited<ReturnType<typeof openReplica>>;

let config: TestConfig;
let left: Replica;
let right: Replica;
const scopes: TestScope[] = [];
const codeOf = (outcome: { ok: true } | { ok: false; refusal: { code: string } }) =>
  outcome.ok ? 'accepted' : outcome.refusal.code;

const open = () => {
  const scope = openTestScope(config);
  scopes.push(scope);
  return openReplica(scope);
};

beforeAll(async () => {
  config = await prepareTestEnvironment();
  left = await open();
  right = await open();
});

afterAll(async () => {
  await left.db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

describe('the limits per beneficiary count what is accepted, exactly', () => {
  const careful = merchantWith('careful', { perBeneficiaryPerDayMax: 3 });

  test('of fifty at once over two replicas as many are accepted as fit, and a repetition counts once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? left : right).payouts.request(careful, single(`often-${index}`)),
      ),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(3);
    expect(new Set(outcomes.map(codeOf))).toEqual(new Set(['accepted', 'overLimit']));
    const first = outcomes.findIndex(({ ok }) => ok);
    expect(codeOf(await left.payouts.request(careful, single(`often-${first}`)))).toBe('accepted');
    const usage = await left.db
      .collection('usage')
      .find({ _id: /^careful:beneficiary:/ })
      .toArray();
    expect(usage).toMatchObject([{ used: 3n }]);
    expect(JSON.stringify(usage[0]?._id)).not.toContain('240000000');
  });

  test('a batch counts all its items to the account, or none', async () => {
    const other = merchantWith('careful-too', { perBeneficiaryPerDayMaxMinor: { GHS: 1_000n } });
    const over = batch('often-over', [
      ['often-over-1', 6],
      ['often-over-2', 4.01],
    ]);
    expect(await left.batches.request(other, over)).toMatchObject({
      refusal: {
        code: 'overLimit',
        message: expect.stringContaining('beneficiaries.1.accountNumber') as string,
      },
    });
    expect(codeOf(await left.payouts.request(other, single('often-single', 10)))).toBe('accepted');
    expect(codeOf(await right.payouts.request(other, single('often-more', 0.01)))).toBe('overLimit');
  });
});

import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openScenario, type Scenario } from './scenario.ts';

const paid = ['capture', 'fee', 'hold', 'railCost'];
const released = ['hold', 'release'];

/** What must be true of a payout once all is quiet. */
interface Story {
  readonly what: string;
  readonly digits: string;
  readonly status?: 'COMPLETED' | 'FAILED' | 'REVERSED' | 'INITIALIZED';
  readonly reason?: string;
  readonly entries?: readonly string[];
  /** How often the rail executed it, and how often it was asked to. */
  readonly executions?: number;
  readonly submissions?: number;
  /** The statuses that the merchant was told, in order. */
  readonly told?: readonly string[];
  readonly breaks?: readonly string[];
}

/** Every magic number of the simulator (design 6); what isn't said is as of a payout that completes. */
const stories: readonly Story[] = [
  { digits: '9999', what: 'succeeds' },
  {
    digits: '0001',
    what: 'fails',
    status: 'FAILED',
    reason: 'Beneficiary institution declined',
    entries: released,
    executions: 0,
    told: ['FAILED'],
  },
  { digits: '0002', what: 'succeeds without a callback' },
  {
    digits: '0003',
    what: 'fails without a callback',
    status: 'FAILED',
    reason: 'Beneficiary institution declined',
    entries: released,
    executions: 0,
    told: ['FAILED'],
  },
  { digits: '0004', what: 'executed, yet answers HTTP 500' },
  { digits: '0005', what: 'executed, yet the connection resets' },
  { digits: '0006', what: 'not executed and reset: sent again after the grace time', submissions: 2 },
  { digits: '0007', what: 'executed, the answer never comes' },
  { digits: '0008', what: 'pending for 10 s, no callback' },
  { digits: '0009', what: 'succeeds, callback three times' },
  { digits: '0010', what: 'the callback arrives before the answer' },
  { digits: '0011', what: 'callbacks contradict', breaks: ['callback.denied'] },
  { digits: '0012', what: 'a callback with another amount', breaks: ['callback.amount_differs'] },
  { digits: '0013', what: 'the lookup says unknown for 5 s' },
  {
    digits: '0014',
    what: 'succeeds, is reversed 2 s later',
    status: 'REVERSED',
    reason: 'Reversed by the beneficiary institution',
    entries: [...paid, 'refund'],
    told: ['COMPLETED', 'REVERSED'],
  },
  { digits: '0015', what: 'answers 429 twice', submissions: 3 },
  { digits: '0016', what: 'executed, answers malformed JSON' },
  {
    digits: '0017',
    what: 'pending for ever',
    status: 'INITIALIZED',
    reason: '',
    entries: ['hold'],
    executions: 0,
    told: [],
    breaks: ['payment.stuck'],
  },
];

const completes = {
  status: 'COMPLETED',
  reason: 'Successful',
  entries: paid,
  executions: 1,
  submissions: 1,
  told: ['COMPLETED'],
  breaks: [] as readonly string[],
} as const;

let scenario: Scenario;
const referenceOf = ({ digits }: Pick<Story, 'digits'>) => scenario.reference(`digits-${digits}`);

beforeAll(async () => {
  // A few quick polls, so that the tests need not wait long for what only polls can find.
  scenario = await openScenario('payout-digits', {
    reconciler: { POLL_CAP_MS: '2000', POLLS_BEFORE_BREAK: '9' },
  });
  await Promise.all(
    stories.map((story) =>
      scenario.demo.requestPayout({
        reference: referenceOf(story),
        amount: '100',
        accountNumber: `012345${story.digits}`,
      }),
    ),
  );
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

/** Everything that is to be seen of a payout, from every side. */
async function lookAt(story: Story) {
  const reference = referenceOf(story);
  const { responseData } = await scenario.demo.lookUpPayout(reference);
  const ours = responseData?.transactionReference ?? '';
  const journal = await scenario.stack.simulator.journal(ours);
  const breaks = await scenario.stack.operator.breaks(ours);
  return {
    status: responseData?.transactionStatus,
    reason: responseData?.statusReason ?? '',
    entries: await scenario.entryKinds(ours),
    executions: await scenario.executions(ours),
    submissions: journal.filter(({ kind, operation }) => kind === 'request' && operation === 'payout').length,
    told: await scenario.webhookStatuses(reference),
    breaks: breaks.map(({ kind }) => kind),
  };
}

function expected({ what: _what, digits: _digits, ...story }: Story) {
  const { entries, ...rest } = { ...completes, ...story };
  return { ...rest, entries: entries.toSorted() };
}

describe('every magic number of the simulator (X1, P12, P13, W1, R1, R3)', () => {
  it.each(stories)('$digits: $what', async (story) => {
    const asTold = async () => expect(await lookAt(story)).toEqual(expected(story));
    // Patience first, then the look that shows what differs.
    await eventually(asTold, 60_000).catch(() => undefined);
    await asTold();
  });

  it('stays so once every poll has been made', async () => {
    const looks = async (digits: string) => {
      const { responseData } = await scenario.demo.lookUpPayout(referenceOf({ digits }));
      const journal = await scenario.stack.simulator.journal(responseData?.transactionReference ?? '');
      return journal.filter(({ operation }) => operation === 'lookup').length;
    };
    const before = await looks('0017');
    // The one that never ends goes on being asked for; everything else is at rest meanwhile.
    await eventually(async () => expect(await looks('0017')).toBeGreaterThan(before + 1));
    for (const story of stories) expect(await lookAt(story)).toEqual(expected(story));
  });

  it('leaves no drift between the rail’s wallet and our float (L12)', async () => {
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const [drift] = (await scenario.stack.operator.drift()).filter(({ currency }) => currency === 'NGN');
      expect(drift).toMatchObject({ withinRange: true });
    });
  });
});

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});

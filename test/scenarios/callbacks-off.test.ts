import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CollectionScenario,
  collectionScenarios,
  expectedOfCollection,
  labelOf,
  lookAtCollection,
  playCollection,
} from './collection-scenarios.ts';
import { expectedOfPayout, lookAtPayout, type PayoutScenario, payoutScenarios } from './payout-scenarios.ts';
import { openCompactScenario, type Scenario } from './scenario.ts';

/** The scenarios with what is expected of each where no callback arrives. */
const silently = <
  Played extends { readonly what: string; readonly withoutCallbacks?: { readonly what: string } },
>(
  scenarios: readonly Played[],
) => scenarios.map((one) => ({ ...one, what: one.withoutCallbacks?.what ?? one.what }));

const DEADLINE_MS = 60_000;

let scenario: Scenario;
const ours = new Map<string, string>();
const referenceOf = ({ digits }: Pick<PayoutScenario, 'digits'>) => scenario.reference(`silent-${digits}`);

beforeAll(async () => {
  scenario = await openCompactScenario('callbacks-off', {
    reconciler: { POLL_BASE_MS: '1000', POLL_CAP_MS: '2000', POLLS_BEFORE_BREAK: '16' },
  });
  await scenario.stack.simulator.setFaults({ callbacks: false });
  await Promise.all([
    ...payoutScenarios.map((one) =>
      scenario.demo.requestPayout({
        reference: referenceOf(one),
        amount: '100',
        accountNumber: `012345${one.digits}`,
      }),
    ),
    ...collectionScenarios.map(async (one) => {
      ours.set(labelOf(one), (await playCollection(scenario, one)).transactionReference ?? '');
    }),
  ]);
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

/** Waits for the expected end, then compares once more so that a failure shows the difference. */
async function expectInTheEnd(look: () => Promise<unknown>, end: unknown): Promise<void> {
  const asExpected = async () => expect(await look()).toEqual(end);
  await eventually(asExpected, DEADLINE_MS).catch(() => undefined);
  await asExpected();
}

// Both webhooks of 0014 are due at once, so they may arrive in either order.
const inOrder = <Seen extends { readonly webhooks: readonly string[] }>(seen: Seen) => ({
  ...seen,
  webhooks: seen.webhooks.toSorted(),
});
const lookAt = async (one: PayoutScenario) => inOrder(await lookAtPayout(scenario, referenceOf(one)));

/**
 * The ends that polls alone may find. If one comes between the end and the reversal of 0014, the payout has ended for them:
 * only the daily close finds a later reversal without a callback.
 */
const endsOf = (one: PayoutScenario): unknown => {
  const end = inOrder(expectedOfPayout(one, 'off'));
  if (one.digits !== '0014') return end;
  const unreversed = inOrder(expectedOfPayout({ digits: '0014', what: 'not reversed yet' }, 'off'));
  return expect.toBeOneOf([end, unreversed]);
};
const lookAtFlow = (one: CollectionScenario) => lookAtCollection(scenario, one, ours.get(labelOf(one)) ?? '');

describe('with all callbacks cut off the reconciler alone finalises (X1, P1, P12, W1, R1, R3)', () => {
  it.each(silently(payoutScenarios))('payout $digits: $what', async (one) => {
    await expectInTheEnd(() => lookAt(one), endsOf(one));
  });

  it.each(silently(collectionScenarios))('collection $digits by $flow: $what', async (one) => {
    await expectInTheEnd(() => lookAtFlow(one), expectedOfCollection(one, 'off'));
  });

  it('stays so once every poll has been made', async () => {
    const { responseData } = await scenario.demo.lookUpPayout(referenceOf({ digits: '0017' }));
    const lookups = async () => {
      const journal = await scenario.stack.simulator.journal(responseData?.transactionReference ?? '');
      return journal.filter(({ operation }) => operation === 'lookup').length;
    };
    const before = await lookups();
    // The payment that never ends is still polled; nothing else changes meanwhile.
    await eventually(async () => expect(await lookups()).toBeGreaterThan(before + 1));
    for (const one of payoutScenarios) expect(await lookAt(one)).toEqual(endsOf(one));
    for (const one of collectionScenarios) {
      expect(await lookAtFlow(one)).toEqual(expectedOfCollection(one, 'off'));
    }
  });
});

describe('once all is quiet', () => {
  it('not one callback has arrived', async () => {
    await using client = await MongoClient.connect(scenario.stack.runFile().mongodbUrl);
    const callbacks = client.db(`${scenario.prefix}_ingress`).collection('callbacks');
    expect(await callbacks.countDocuments()).toBe(0);
  });

  it('no rail’s wallet has drifted from our float by a minor unit, but for a reversal that no poll saw (L13)', async () => {
    const reversed = payoutScenarios.filter(({ digits }) => digits === '0014');
    const seen = await Promise.all(reversed.map(lookAt));
    const unseen = seen.some(({ status }) => status !== 'REVERSED') ? ['100'] : [];
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const drifts = await scenario.stack.operator.drift();
      // The payments that are still in flight are never executed.
      const drifted = drifts.filter(({ drift }) => drift !== '0').map(({ drift }) => drift);
      expect(drifted).toEqual(unseen);
      expect(drifts).toHaveLength(8);
    });
  });

  it('the books hold from the first entry on (L1 to L12)', async () => {
    expect(await scenario.violations()).toEqual([]);
  });
});

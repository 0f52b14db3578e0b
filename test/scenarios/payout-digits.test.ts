import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectedOfPayout, lookAtPayout, type PayoutScenario, payoutScenarios } from './payout-scenarios.ts';
import { openCompactScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;
const referenceOf = ({ digits }: Pick<PayoutScenario, 'digits'>) => scenario.reference(`digits-${digits}`);

beforeAll(async () => {
  // Polls are quick, so that the tests need not wait long for what only polls can find.
  scenario = await openCompactScenario('payout-digits', {
    reconciler: { POLL_CAP_MS: '2000', POLLS_BEFORE_BREAK: '9' },
  });
  await Promise.all(
    payoutScenarios.map((payoutScenario) =>
      scenario.demo.requestPayout({
        reference: referenceOf(payoutScenario),
        amount: '100',
        accountNumber: `012345${payoutScenario.digits}`,
      }),
    ),
  );
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

describe('every magic number of the simulator (X1, P12, P13, W1, R1, R3)', () => {
  it.each(payoutScenarios)('$digits: $what', async (payoutScenario) => {
    const asExpected = async () =>
      expect(await lookAtPayout(scenario, referenceOf(payoutScenario))).toEqual(
        expectedOfPayout(payoutScenario),
      );
    // The second comparison shows the difference if the wait has failed.
    await eventually(asExpected, 60_000).catch(() => undefined);
    await asExpected();
  });

  it('stays so once every poll has been made', async () => {
    const looks = async (digits: string) => {
      const { responseData } = await scenario.demo.lookUpPayout(referenceOf({ digits }));
      const journal = await scenario.stack.simulator.journal(responseData?.transactionReference ?? '');
      return journal.filter(({ operation }) => operation === 'lookup').length;
    };
    const before = await looks('0017');
    // The payout that never ends is still polled; nothing else changes meanwhile.
    await eventually(async () => expect(await looks('0017')).toBeGreaterThan(before + 1));
    for (const payoutScenario of payoutScenarios) {
      expect(await lookAtPayout(scenario, referenceOf(payoutScenario))).toEqual(
        expectedOfPayout(payoutScenario),
      );
    }
  });

  it('leaves no drift between the rail’s wallet and our float (L13)', async () => {
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const [drift] = (await scenario.stack.operator.drift()).filter(({ currency }) => currency === 'NGN');
      // The payouts that are still in flight are never executed.
      expect(drift).toMatchObject({ drift: '0', withinRange: true });
    });
  });
});

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});

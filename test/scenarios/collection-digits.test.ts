import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CollectionScenario,
  collectionScenarios as everyScenario,
  expectedOfCollection,
  flowNames,
  flows,
  labelOf,
  lookAtCollection,
  type Payin,
  playCollection,
} from './collection-scenarios.ts';
import { openCompactScenario, type Scenario } from './scenario.ts';

// If a poll comes before the callback of 0012, the requested amount counts: `collection-decisions` has it, where none does.
const collectionScenarios = everyScenario.filter(({ digits }) => digits !== '0012');

let scenario: Scenario;
const answers = new Map<string, Payin>();
const before = new Map<string, number>();
const currencies = [...new Set(flowNames.map((name) => flows[name].currency))];
const lookAt = (collectionScenario: CollectionScenario) =>
  lookAtCollection(
    scenario,
    collectionScenario,
    answers.get(labelOf(collectionScenario))?.transactionReference ?? '',
  );

async function availableIn(currency: string): Promise<number> {
  return Number((await scenario.stack.operator.wallet(scenario.merchantId, currency)).available);
}

beforeAll(async () => {
  // Polls are quick, so that the tests need not wait long for what only polls can find.
  scenario = await openCompactScenario('collect-digits', {
    reconciler: { FIRST_POLL_AFTER_MS: '6000', POLL_CAP_MS: '2000', POLLS_BEFORE_BREAK: '12' },
  });
  for (const currency of currencies) before.set(currency, await availableIn(currency));
  await Promise.all(
    collectionScenarios.map(async (collectionScenario) => {
      answers.set(labelOf(collectionScenario), await playCollection(scenario, collectionScenario));
    }),
  );
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

describe('every magic number of the simulator (X1, P10, P12, P13, W1, R1, R3)', () => {
  it.each(collectionScenarios)('$digits by $flow: $what', async (collectionScenario) => {
    const asExpected = async () =>
      expect(await lookAt(collectionScenario)).toEqual(expectedOfCollection(collectionScenario));
    // The second comparison shows the difference if the wait has failed.
    await eventually(asExpected, 60_000).catch(() => undefined);
    await asExpected();
  });

  it.each(collectionScenarios)(
    '$digits by $flow: payin says how it goes on (contract 2.9)',
    ({ flow, digits, unclear }) => {
      const link = expect.stringContaining('/pay/') as unknown;
      const address = flow !== 'link' ? {} : { paymentCompletionUrl: link, redirectionUrl: link };
      expect(answers.get(labelOf({ flow, digits }))).toEqual({
        responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
        transactionReference: expect.stringMatching(/^co-/) as unknown,
        otpIsRequired: false,
        lengthOfOtp: '0',
        paymentCompletionRequired: false,
        paymentCompletionUrl: '',
        redirectionRequired: false,
        redirectionUrl: '',
        ...flows[flow].answer,
        ...(unclear !== true && address),
      });
    },
  );

  it('stays so once every poll has been made', async () => {
    const ours = answers.get('stk-0017')?.transactionReference ?? '';
    const checks = async () =>
      (await scenario.stack.simulator.journal(ours)).filter(({ operation }) => operation === 'check').length;
    const checksBefore = await checks();
    // The collection that never ends is still polled; nothing else changes meanwhile.
    await eventually(async () => expect(await checks()).toBeGreaterThan(checksBefore + 1));
    const looks = await Promise.all(
      collectionScenarios.map(
        async (collectionScenario) =>
          [labelOf(collectionScenario), await lookAt(collectionScenario)] as const,
      ),
    );
    expect(looks).toEqual(
      collectionScenarios.map((collectionScenario) => [
        labelOf(collectionScenario),
        expectedOfCollection(collectionScenario),
      ]),
    );
  });

  it.each(currencies)('credits received less fee, and nothing else, in %s (L11)', async (currency) => {
    const ended = collectionScenarios.filter(({ flow }) => flows[flow].currency === currency);
    const credited = ended.filter(({ status }) => (status ?? 'COMPLETED') === 'COMPLETED').length * 197;
    expect((await availableIn(currency)) - (before.get(currency) ?? 0)).toBe(credited);
  });

  it('leaves no drift between the rail’s wallets and our floats (L13)', async () => {
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const drifts = (await scenario.stack.operator.drift()).filter(({ currency }) =>
        currencies.some((one) => one === currency),
      );
      expect(drifts.map(({ drift, withinRange }) => [drift, withinRange])).toEqual(
        currencies.map(() => ['0', true]),
      );
    });
  });
});

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});

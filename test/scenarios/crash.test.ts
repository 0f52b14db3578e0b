import type { ServiceName } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  scenario = await openScenario('crash');
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

/** Every line of the payout flow at which these two services may die, by the first time it is passed. */
const crashes: readonly (readonly [ServiceName, string])[] = [
  ['payout-gateway', 'payouts.accept.before-commit'],
  ['payout-gateway', 'payouts.accept.after-commit'],
  ['payout-gateway', 'relay.before-send'],
  ['payout-gateway', 'relay.after-send'],
  ['payout-gateway', 'payout-gateway.chunk.after-commit'],
  ['payout-gateway', 'payouts.submit.before-call'],
  ['payout-gateway', 'payouts.submit.after-call'],
  ['payout-gateway', 'payouts.outcome.after-commit'],
  ['ledger', 'ledger.chunk.before-commit'],
  ['ledger', 'ledger.chunk.after-commit'],
  ['ledger', 'relay.before-send'],
  ['ledger', 'relay.after-send'],
];

describe('killed at a named point and started again: nothing lost, nothing twice (P1, P4, X1, L7)', () => {
  it.each(crashes)('%s at %s', async (service, point) => {
    const kept = scenario.stack.service(service);
    await kept.restart({ CRASH_AT: point });
    const doomed = kept.pid();
    await kept.ready();
    const wish = {
      reference: scenario.reference(`${service}.${point}`),
      amount: '100',
      accountNumber: '0123459999',
    };
    // An answer that never came is sent again, unchanged, as a merchant would.
    await eventually(
      async () => expect((await scenario.demo.requestPayout(wish)).responseCode).toBe('09'),
      60_000,
    );
    await eventually(() => expect(kept.pid()).not.toBe(doomed), 60_000);
    const ours = await scenario.payoutBecomes(wish.reference, 'COMPLETED');
    await eventually(async () =>
      expect(await scenario.entryKinds(ours)).toEqual(['capture', 'fee', 'hold', 'railCost']),
    );
    expect(await scenario.executions(ours)).toBe(1);
    await eventually(async () =>
      expect(await scenario.webhookStatuses(wish.reference)).toEqual(['COMPLETED']),
    );
  });
});

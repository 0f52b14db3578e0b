import { postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCompactScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  // The break opens after the attempt's grace time of 8 s; a decision needs knowledge from after that time.
  scenario = await openCompactScenario('payout-decisions', {
    reconciler: { POLLS_BEFORE_BREAK: '24', POLL_BASE_MS: '300', POLL_CAP_MS: '600' },
  });
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

type Operator = 'operator' | 'approver';

async function post(path: string, body: object, by: Operator) {
  const { operatorToken, approverToken, operations } = scenario.stack.runFile();
  const authorization = `Bearer ${by === 'operator' ? operatorToken : approverToken}`;
  const url = `${operations['reconciler'] ?? ''}/decisions${path}`;
  const { status, body: said } = await postJson(url, JSON.stringify(body), { authorization });
  return { status, body: said as Readonly<Record<string, unknown>> };
}

const breaksOf = async (ours: string) =>
  (await scenario.stack.operator.breaks(ours)).map(
    (one) => `${String(one['kind'])} ${String(one['status'])}`,
  );

/** Makes a payout of 100 GHS that its rail never ends (0017), and returns its references. */
async function stuck(label: string): Promise<{ readonly reference: string; readonly ours: string }> {
  const reference = scenario.reference(label);
  await scenario.demo.requestPayout({
    reference,
    amount: '100',
    currency: 'GHS',
    country: 'Ghana',
    accountNumber: '0123450017',
  });
  const ours = await scenario.payoutBecomes(reference, 'INITIALIZED');
  await eventually(async () => expect(await breaksOf(ours)).toEqual(['payment.stuck open']), 60_000);
  return { reference, ours };
}

describe('a payout that its rail never ends (ADR 34)', () => {
  it('fails by the decision of two operators: its hold is released, the merchant is informed, the break closes', async () => {
    const before = await scenario.stack.operator.wallet('demo', 'GHS');
    const { reference, ours } = await stuck('given-up');
    const note = 'the rail has confirmed that it will not pay';
    const proposed = await post('', { reference: ours, outcome: 'failed', note }, 'operator');
    expect(proposed).toMatchObject({ status: 202, body: { outcome: 'failed', amount: '100' } });
    const id = String(proposed.body['id']);
    expect(await post(`/${id}/approve`, {}, 'operator')).toMatchObject({ status: 403 });
    expect(await scenario.entryKinds(ours)).toEqual(['hold']);

    expect(await post(`/${id}/approve`, {}, 'approver')).toMatchObject({ status: 200 });
    await scenario.payoutBecomes(reference, 'FAILED');
    await eventually(async () => expect(await scenario.entryKinds(ours)).toEqual(['hold', 'release']));
    await eventually(async () => expect(await scenario.webhookStatuses(reference)).toEqual(['FAILED']));
    await eventually(async () => expect(await breaksOf(ours)).toEqual(['payment.stuck resolved']));
    const after = await scenario.stack.operator.wallet('demo', 'GHS');
    expect([after.available, after.held]).toEqual([before.available, before.held]);
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const drift = (await scenario.stack.operator.drift()).find(({ currency }) => currency === 'GHS');
      expect(drift).toMatchObject({ drift: '0', withinRange: true });
    });
    expect(await post('', { reference: ours, outcome: 'completed', note }, 'operator')).toMatchObject({
      status: 409,
    });
    expect(await scenario.violations()).toEqual([]);
  });
});

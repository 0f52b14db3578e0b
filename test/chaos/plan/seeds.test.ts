import { describe, expect, it } from 'vitest';
import { mortals } from './faults.ts';
import { type Act, createPlan, type Plan } from './plan.ts';
import { usualLoadMs, usualSeeds } from './seeds.ts';

const plans = usualSeeds.map((seed) => createPlan(seed, usualLoadMs));

const struck = ({ faults }: Plan, kind: string) =>
  faults.flatMap((fault) => (fault.kind === kind && fault.target ? [fault.target] : []));

/** The last four digits of the payouts of an act. */
function digitsOf(act: Act): readonly string[] {
  if (act.kind === 'collection') return [];
  const requests = act.kind === 'batch' ? act.requests : [act.request];
  return requests.map(({ accountNumber }) => accountNumber.slice(-4));
}

describe('the plans of every test run', () => {
  it('kill every service that can be killed', () => {
    const killed = new Set(plans.flatMap((plan) => struck(plan, 'kill').map(({ service }) => service)));
    expect([...killed].toSorted()).toEqual(mortals.toSorted());
  });

  it('pause some', () => {
    expect(new Set(plans.flatMap((plan) => struck(plan, 'pause'))).size).toBeGreaterThan(2);
  });

  it('run two reconcilers once, and strike the second one', () => {
    const seconds = plans.flatMap((plan) => [...struck(plan, 'kill'), ...struck(plan, 'pause')]);
    expect(seconds).toContainEqual({ service: 'reconciler', isSecond: true });
  });

  it('reverse a payout where callbacks arrive', () => {
    const certain = plans.filter(({ swarm }) => swarm.callbacksArrive);
    const reversed = certain
      .flatMap(({ acts }) => acts.flatMap(digitsOf))
      .filter((digits) => digits === '0014');
    expect(reversed.length).toBeGreaterThan(1);
  });

  it('have a window without callbacks, an outage, and a rail that is slow', () => {
    const kinds = new Set(plans.flatMap(({ faults }) => faults.map(({ kind }) => kind)));
    expect([...kinds]).toEqual(expect.arrayContaining(['callbacks', 'outage', 'latency', 'merchant']));
  });

  it('ask both APIs for many payments, one by one, in batches and again', () => {
    const acts = plans.flatMap((plan) => plan.acts);
    for (const kind of ['payout', 'batch', 'collection'])
      expect(acts.filter((act) => act.kind === kind).length).toBeGreaterThan(10);
    expect(acts.some((act) => act.kind !== 'batch' && act.times > 1)).toBe(true);
    expect(acts.some((act) => act.kind !== 'batch' && act.next === 'other')).toBe(true);
  });
});

describe('a plan', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(createPlan(7, 20_000)).toEqual(createPlan(7, 20_000));
    expect(createPlan(7, 20_000)).not.toEqual(createPlan(8, 20_000));
  });

  it('strikes every process that it chose before it strikes one again', () => {
    const kills = Array.from({ length: 50 }, (_, seed) => createPlan(seed, 60_000)).filter(
      (plan) => struck(plan, 'kill').length > 0,
    );
    for (const plan of kills) {
      const { targets } = plan.swarm;
      const round = struck(plan, 'kill').slice(0, targets.length);
      expect(new Set(round.map((target) => JSON.stringify(target))).size).toBe(round.length);
    }
    expect(kills.length).toBeGreaterThan(20);
  });

  it('asks for nothing that a merchant could not send', () => {
    const batches = Array.from({ length: 200 }, (_, seed) => createPlan(seed, 30_000))
      .flatMap(({ acts }) => acts)
      .flatMap((act) => (act.kind === 'batch' ? act.requests : []));
    expect(batches.filter(({ amount }) => !/^\d+(\.\d{1,2})?$/.test(amount))).toEqual([]);
  });

  it('never plans a reversal that a lost callback could hide', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const plan = createPlan(seed, 30_000);
      if (plan.swarm.callbacksArrive) continue;
      expect(plan.acts.flatMap(digitsOf)).not.toContain('0014');
    }
  });
});

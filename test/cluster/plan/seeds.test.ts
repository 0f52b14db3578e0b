import { describe, expect, it } from 'vitest';
import { durationMsOf, nodeKinds, nodesPerKind, type Step, type Strike, strikeKinds } from './faults.ts';
import { createClusterPlan } from './plan.ts';
import { usualLoadMs, usualSeeds } from './seeds.ts';

const plans = usualSeeds.map((seed) => createClusterPlan(seed, usualLoadMs));
const steps = plans.flatMap((plan) => plan.steps);

const nameOf = ({ kind, node, index }: Strike) => `${kind} ${node} ${index}`;
const isBoth = ({ strikes }: Step) => new Set(strikes.map(({ node }) => node)).size === 2;
const isTwoBrokers = ({ strikes }: Step) =>
  strikes.length === 2 && !isBoth({ strikes, pauseMs: 0, downMs: 0 });

describe('the plans of every test run', () => {
  it('strike every node in every way', () => {
    const wanted = strikeKinds.flatMap((kind) =>
      nodeKinds.flatMap((node) =>
        Array.from({ length: nodesPerKind }, (_, index) => nameOf({ kind, node, index })),
      ),
    );
    const others = steps.filter((step) => !isTwoBrokers(step));
    const struck = new Set(others.flatMap(({ strikes }) => strikes.map(nameOf)));
    expect([...struck].toSorted()).toEqual(wanted.toSorted());
  });

  it.each(plans)(
    'strike alone, a broker and a member at once, and two brokers at once: seed $seed',
    (plan) => {
      expect(plan.steps.filter(({ strikes }) => strikes.length === 1).length).toBeGreaterThan(1);
      expect(plan.steps.filter(isBoth).length).toBeGreaterThan(1);
      const [two] = plan.steps.filter(isTwoBrokers);
      expect(two?.strikes.map(({ kind, node }) => `${kind} ${node}`)).toEqual(['kill broker', 'kill broker']);
      expect(two?.downMs).toBe(14_000);
    },
  );

  it('never leave MongoDB or Kafka without two nodes but where two brokers are meant', () => {
    for (const step of steps.filter((one) => !isTwoBrokers(one))) {
      const kinds = step.strikes.map(({ node }) => node);
      expect(new Set(kinds).size).toBe(kinds.length);
    }
  });

  it.each(plans)(
    'have thirty payments a second under way, by both APIs, in several currencies: seed $seed',
    (plan) => {
      const seconds = plan.steps.reduce((sum, step) => sum + durationMsOf(step), 0) / 1_000;
      const currencies = plan.acts.flatMap((act) =>
        act.kind === 'batch' ? act.requests.map(({ currency }) => currency) : [act.request.currency],
      );
      expect(currencies.length / seconds).toBeGreaterThan(30);
      expect(new Set(currencies).size).toBeGreaterThan(4);
      expect(new Set(plan.acts.map(({ kind }) => kind))).toEqual(new Set(['payout', 'batch', 'collection']));
    },
  );

  it('are the same each time', () => {
    expect(usualSeeds.map((seed) => createClusterPlan(seed, usualLoadMs))).toEqual(plans);
  });

  it('go on with further rounds where there is more time', () => {
    const long = createClusterPlan(4, 180_000);
    expect(long.steps.length).toBeGreaterThan(2 * (plans[0]?.steps.length ?? 0));
    expect(long.steps.slice(0, 3)).toEqual(plans[0]?.steps.slice(0, 3));
  });
});

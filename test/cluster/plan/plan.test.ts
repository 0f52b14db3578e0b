import { describe, expect, it } from 'vitest';
import { durationMsOf, nodeKinds, nodesPerKind, type Step, type Strike, strikeKinds } from './faults.ts';
import { createClusterPlan } from './plan.ts';
import { usualLoadMs, usualSeed } from './seeds.ts';

const plan = createClusterPlan(usualSeed, usualLoadMs);
const { steps, acts } = plan;

const nameOf = ({ kind, node, index }: Strike) => `${kind} ${node} ${index}`;
const isBoth = ({ strikes }: Step) => new Set(strikes.map(({ node }) => node)).size === 2;
const isTwoBrokers = ({ strikes }: Step) =>
  strikes.length === 2 && !isBoth({ strikes, pauseMs: 0, downMs: 0 });

describe('the plan of every test run', () => {
  it('strikes every node in every way', () => {
    const wanted = strikeKinds.flatMap((kind) =>
      nodeKinds.flatMap((node) =>
        Array.from({ length: nodesPerKind }, (_, index) => nameOf({ kind, node, index })),
      ),
    );
    const others = steps.filter((step) => !isTwoBrokers(step));
    const struck = new Set(others.flatMap(({ strikes }) => strikes.map(nameOf)));
    expect([...struck].toSorted()).toEqual(wanted.toSorted());
  });

  it('strikes alone, a broker and a member at once, and two brokers at once', () => {
    expect(steps.filter(({ strikes }) => strikes.length === 1).length).toBeGreaterThan(1);
    expect(steps.filter(isBoth).length).toBeGreaterThan(1);
    const [two] = steps.filter(isTwoBrokers);
    expect(two?.strikes.map(({ kind, node }) => `${kind} ${node}`)).toEqual(['kill broker', 'kill broker']);
    expect(two?.downMs).toBe(14_000);
  });

  it('never leaves MongoDB or Kafka without two nodes but where two brokers are meant', () => {
    for (const step of steps.filter((one) => !isTwoBrokers(one))) {
      const kinds = step.strikes.map(({ node }) => node);
      expect(new Set(kinds).size).toBe(kinds.length);
    }
  });

  it('has thirty payments a second under way, by both APIs, in several currencies', () => {
    const seconds = steps.reduce((sum, step) => sum + durationMsOf(step), 0) / 1_000;
    const currencies = acts.flatMap((act) =>
      act.kind === 'batch' ? act.requests.map(({ currency }) => currency) : [act.request.currency],
    );
    expect(currencies.length / seconds).toBeGreaterThan(30);
    expect(new Set(currencies).size).toBeGreaterThan(4);
    expect(new Set(acts.map(({ kind }) => kind))).toEqual(new Set(['payout', 'batch', 'collection']));
  });

  it('is the same each time', () => {
    expect(createClusterPlan(usualSeed, usualLoadMs)).toEqual(plan);
  });

  it('goes on with further rounds where there is more time', () => {
    const long = createClusterPlan(usualSeed, 300_000);
    expect(long.steps.length).toBeGreaterThan(2 * steps.length);
    expect(long.steps.slice(0, 3)).toEqual(steps.slice(0, 3));
  });
});

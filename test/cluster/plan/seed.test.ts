import { describe, expect, it } from 'vitest';
import { durationMsOf, nodeKinds, nodesPerKind, type Step, type Strike, strikeKinds } from './faults.ts';
import { createClusterPlan } from './plan.ts';
import { usualLoadMs, usualSeed } from './seed.ts';

const usual = createClusterPlan(usualSeed, usualLoadMs);
const long = createClusterPlan(usualSeed, 4 * usualLoadMs);

const isBoth = ({ strikes }: Step) => new Set(strikes.map(({ node }) => node)).size === 2;
const isTwoBrokers = (step: Step) => step.strikes.length === 2 && !isBoth(step);

/** What is struck, each in one spelling, but for the steps that break two brokers at once. */
const struckBy = (steps: readonly Step[], spell: (strike: Strike) => string) =>
  [
    ...new Set(steps.filter((step) => !isTwoBrokers(step)).flatMap(({ strikes }) => strikes.map(spell))),
  ].toSorted();

const everyNode = nodeKinds.flatMap((node) =>
  Array.from({ length: nodesPerKind }, (_, index) => `${node} ${index}`),
);

describe('the plan of every test run', () => {
  it('strikes every node, and each kind of node in every way', () => {
    expect(struckBy(usual.steps, ({ node, index }) => `${node} ${index}`)).toEqual(everyNode.toSorted());
    const everyWay = strikeKinds.flatMap((kind) => nodeKinds.map((node) => `${kind} ${node}`));
    expect(struckBy(usual.steps, ({ kind, node }) => `${kind} ${node}`)).toEqual(everyWay.toSorted());
  });

  it('strikes alone, a broker and a member at once, and two brokers at once', () => {
    expect(usual.steps.filter(({ strikes }) => strikes.length === 1).length).toBeGreaterThan(1);
    expect(usual.steps.filter(isBoth).length).toBeGreaterThan(1);
    const [two] = usual.steps.filter(isTwoBrokers);
    expect(two?.strikes.map(({ kind, node }) => `${kind} ${node}`)).toEqual(['kill broker', 'kill broker']);
    expect(two?.downMs).toBe(14_000);
  });

  it('has thirty payments a second under way, by both APIs, in several currencies', () => {
    const seconds = usual.steps.reduce((sum, step) => sum + durationMsOf(step), 0) / 1_000;
    const currencies = usual.acts.flatMap((act) =>
      act.kind === 'batch' ? act.requests.map(({ currency }) => currency) : [act.request.currency],
    );
    expect(currencies.length / seconds).toBeGreaterThan(30);
    expect(new Set(currencies).size).toBeGreaterThan(4);
    expect(new Set(usual.acts.map(({ kind }) => kind))).toEqual(new Set(['payout', 'batch', 'collection']));
  });

  it('is the same each time', () => {
    expect(createClusterPlan(usualSeed, usualLoadMs)).toEqual(usual);
  });
});

describe('a plan with more time', () => {
  it('goes on with further rounds, and strikes every node in every way', () => {
    const spell = ({ kind, node, index }: Strike) => `${kind} ${node} ${index}`;
    const every = strikeKinds.flatMap((kind) => everyNode.map((node) => `${kind} ${node}`));
    expect(struckBy(long.steps, spell)).toEqual(every.toSorted());
    expect(long.steps.slice(0, 3)).toEqual(usual.steps.slice(0, 3));
  });

  it('never leaves MongoDB or Kafka without two nodes but where two brokers are meant', () => {
    for (const { strikes } of long.steps.filter((step) => !isTwoBrokers(step))) {
      const kinds = strikes.map(({ node }) => node);
      expect(new Set(kinds).size).toBe(kinds.length);
    }
  });
});

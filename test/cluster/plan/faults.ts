import type { Chance } from '../../chaos/plan/chance.ts';

/** How a node is broken: SIGKILL, SIGTERM, SIGSTOP. */
export const strikeKinds = ['kill', 'stop', 'pause'] as const;

/** What kinds of nodes a cluster has. */
export const nodeKinds = ['broker', 'member'] as const;

/** How many there are of each kind. */
export const nodesPerKind = 3;

/** One node, and what is done to it. */
export interface Strike {
  readonly kind: (typeof strikeKinds)[number];
  readonly node: (typeof nodeKinds)[number];
  readonly index: number;
}

/** A set of simultaneous faults with its duration, and the healthy pause before it. */
export interface Step {
  readonly pauseMs: number;
  readonly strikes: readonly Strike[];
  readonly downMs: number;
}

const TWO_BROKERS_DOWN_MS = 14_000;
/** How long a node takes to have its role again: a killed broker waits for the end of its own session. */
const RETURN_MS = 3_500;
/** Steps of a round that break a broker and a member at once; the other strikes come alone. */
const BOTH_PER_ROUND = 7;

const indexes = Array.from({ length: nodesPerKind }, (_, index) => index);

/** Every strike at one kind of node. */
function allOf(node: Strike['node']): readonly Strike[] {
  return strikeKinds.flatMap((kind) => indexes.map((index): Strike => ({ kind, node, index })));
}

function shuffled<Item>(chance: Chance, items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, rank: chance.fraction() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/**
 * A pause must be noticed: it is longer than a broker's session, and than a member waits before it stands for election.
 */
function downMsOf(chance: Chance, strikes: readonly Strike[]): number {
  const each = strikes.map(({ kind, node }) => {
    if (kind !== 'pause') return chance.whole(1_500, 5_000);
    return node === 'broker' ? chance.whole(7_000, 8_500) : chance.whole(3_000, 6_000);
  });
  return Math.max(...each);
}

function twoBrokers(chance: Chance): Step {
  const spared = chance.pick(indexes);
  const strikes = indexes
    .filter((index) => index !== spared)
    .map((index): Strike => ({ kind: 'kill', node: 'broker', index }));
  return { pauseMs: chance.whole(500, 2_000), strikes, downMs: TWO_BROKERS_DOWN_MS };
}

/** Every strike once, most of them in pairs of a broker and a member, and two brokers at once. */
function planRound(chance: Chance): readonly Step[] {
  const brokers = shuffled(chance, allOf('broker'));
  const members = shuffled(chance, allOf('member'));
  const pairs = brokers.slice(0, BOTH_PER_ROUND).map((broker, at) => [broker, ...members.slice(at, at + 1)]);
  const alone = [...brokers.slice(BOTH_PER_ROUND), ...members.slice(BOTH_PER_ROUND)].map((one) => [one]);
  const steps = shuffled(chance, [...pairs, ...alone]).map(
    (strikes): Step => ({
      pauseMs: chance.whole(500, 2_000),
      strikes,
      downMs: downMsOf(chance, strikes),
    }),
  );
  const at = chance.whole(0, 2);
  return [...steps.slice(0, at), twoBrokers(chance), ...steps.slice(at)];
}

/** How long a step takes, about. */
export function durationMsOf({ pauseMs, downMs }: Step): number {
  return pauseMs + downMs + RETURN_MS;
}

/** Plans what is broken, step by step, in rounds: as many complete ones as fit into `loadMs`, and at least one. */
export function planSteps(chance: Chance, loadMs: number): readonly Step[] {
  const steps: Step[] = [];
  let ms = 0;
  for (let round = 0; ms === 0 || ms < loadMs; round += 1) {
    for (const step of planRound(chance)) {
      if (round > 0 && ms >= loadMs) break;
      steps.push(step);
      ms += durationMsOf(step);
    }
  }
  return steps;
}

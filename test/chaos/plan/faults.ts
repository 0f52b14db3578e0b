import type { ServiceName } from '@pesewa/contracts';
import type { Chance } from './chance.ts';

/** The kinds of faults, each for a while. */
export const faultKinds = ['kill', 'pause', 'outage', 'latency', 'callbacks', 'merchant'] as const;

/** One of them. */
export type FaultKind = (typeof faultKinds)[number];

/** One process of a service: the first, or the second where two run. */
export interface Target {
  readonly service: ServiceName;
  readonly isSecond: boolean;
}

/** A fault from one time on, for a while. */
export interface Fault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly durationMs: number;
  /** For a kill and a pause. */
  readonly target?: Target;
  /** For latency: the delay before each answer of the rail, after its effect. */
  readonly latencyMs?: number;
}

/** Which faults a seed has, and how strong (swarm testing, as TigerBeetle does it). */
export interface Swarm {
  /** The mean pause between two faults of a kind; absent kinds do not happen. */
  readonly everyMs: Readonly<Partial<Record<FaultKind, number>>>;
  readonly targets: readonly Target[];
  /** Services of which two run. */
  readonly doubled: readonly ServiceName[];
  /** The share of payments whose digits misbehave. */
  readonly misbehaving: number;
  /** The mean pause between two acts. */
  readonly pauseMs: number;
  /** Whether no fault of this seed can lose a callback for good. */
  readonly callbacksArrive: boolean;
}

/** Every service except the simulator, whose journal is the reference. */
export const mortals = [
  'payout-gateway',
  'collection-gateway',
  'webhook-ingress',
  'reconciler',
  'ledger',
  'webhook-dispatcher',
] as const satisfies readonly ServiceName[];

const doubles = ['reconciler', 'payout-gateway', 'ledger'] as const satisfies readonly ServiceName[];

/** Chooses the faults of a seed. */
export function chooseSwarm(chance: Chance): Swarm {
  const chosen = faultKinds.filter(() => chance.happens(0.6));
  const kinds = chosen.length > 0 ? chosen : [chance.pick(faultKinds)];
  const everyMs = Object.fromEntries(kinds.map((kind) => [kind, chance.whole(2, 9) * 1_000]));
  const doubled = doubles.filter(() => chance.happens(0.4));
  const some = mortals.filter(() => chance.happens(0.8));
  const targets = (some.length > 0 ? some : mortals).flatMap((service): readonly Target[] => {
    const isDoubled = (doubled as readonly ServiceName[]).includes(service);
    return [{ service, isSecond: false }, ...(isDoubled ? [{ service, isSecond: true }] : [])];
  });
  const dies = kinds.includes('kill') || kinds.includes('pause');
  return {
    everyMs,
    targets,
    doubled,
    misbehaving: chance.pick([0.1, 0.4, 0.8]),
    pauseMs: chance.pick([150, 250, 400]),
    callbacksArrive:
      !kinds.includes('callbacks') && !(dies && targets.some(({ service }) => service === 'webhook-ingress')),
  };
}

const LATENCY_MS_MAX = 7_000;
const DURATION_MS_MAX = 9_000;

/** Plans the faults of each kind one after another; all of them end before the load does. */
export function planFaults(chance: Chance, swarm: Swarm, loadMs: number): readonly Fault[] {
  return faultKinds
    .flatMap((kind) => {
      const everyMs = swarm.everyMs[kind];
      return everyMs === undefined ? [] : planKind(chance, swarm, { kind, everyMs, loadMs });
    })
    .toSorted((a, b) => a.atMs - b.atMs);
}

function planKind(
  chance: Chance,
  { targets }: Swarm,
  { kind, everyMs, loadMs }: { readonly kind: FaultKind; readonly everyMs: number; readonly loadMs: number },
): readonly Fault[] {
  const faults: Fault[] = [];
  const nextTarget = inRounds(chance, targets);
  let atMs = chance.whole(1_000, everyMs);
  while (atMs < loadMs) {
    const durationMs = kind === 'kill' ? 0 : Math.min(chance.whole(300, DURATION_MS_MAX), loadMs - atMs);
    faults.push({
      kind,
      atMs,
      durationMs,
      ...((kind === 'kill' || kind === 'pause') && { target: nextTarget() }),
      ...(kind === 'latency' && { latencyMs: chance.whole(200, LATENCY_MS_MAX) }),
    });
    atMs += durationMs + chance.whole(500, 2 * everyMs);
  }
  return faults;
}

/**
 * Gives every item once before any twice, in an order that is shuffled for each round: so few draws reach many items.
 */
function inRounds<Item>(chance: Chance, items: readonly Item[]): () => Item {
  let left: readonly Item[] = [];
  return () => {
    if (left.length === 0) left = items;
    const item = chance.pick(left);
    left = left.filter((one) => one !== item);
    return item;
  };
}

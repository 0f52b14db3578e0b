import type { ServiceName } from '@pesewa/stack';
import type { Chance } from './chance.ts';

/** What may be broken for a while. */
export const faultKinds = ['kill', 'pause', 'outage', 'latency', 'callbacks', 'merchant'] as const;

/** One of them. */
export type FaultKind = (typeof faultKinds)[number];

/** Something that is broken from a moment on, for a while. */
export interface Fault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly durationMs: number;
  /** Of a kill and a pause. */
  readonly target?: ServiceName;
  /** Of latency: how much is put before each answer of the rail, after its effect. */
  readonly latencyMs?: number;
}

/** Which faults a seed has, and how strong (TigerBeetle's swarm, reliability.md §2.1). */
export interface Swarm {
  /** The mean pause between two faults of a kind; absent kinds do not happen. */
  readonly everyMs: Readonly<Partial<Record<FaultKind, number>>>;
  readonly targets: readonly ServiceName[];
  /** The share of payments whose digits misbehave. */
  readonly misbehaving: number;
  /** The mean pause between two acts. */
  readonly pauseMs: number;
  /** Whether no fault of this seed can keep a callback back for good. */
  readonly callbacksArrive: boolean;
}

const mortals = [
  'payout-gateway',
  'collection-gateway',
  'webhook-ingress',
  'reconciler',
  'ledger',
  'webhook-dispatcher',
] as const satisfies readonly ServiceName[];

/** Chooses the faults of a seed. */
export function chooseSwarm(chance: Chance): Swarm {
  const chosen = faultKinds.filter(() => chance.happens(0.6));
  const kinds = chosen.length > 0 ? chosen : [chance.pick(faultKinds)];
  const everyMs = Object.fromEntries(kinds.map((kind) => [kind, chance.whole(3, 15) * 1_000]));
  const some = mortals.filter(() => chance.happens(0.7));
  const targets = some.length > 0 ? some : mortals;
  const dies = kinds.includes('kill') || kinds.includes('pause');
  return {
    everyMs,
    targets,
    misbehaving: chance.pick([0.1, 0.4, 0.8]),
    pauseMs: chance.pick([150, 250, 400]),
    callbacksArrive: !kinds.includes('callbacks') && !(dies && targets.includes('webhook-ingress')),
  };
}

const LATENCY_MS_MAX = 7_000;
const DURATION_MS_MAX = 9_000;

/** Plans the faults of each kind one after another, all of them over before the load is. */
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
  let atMs = chance.whole(1_000, everyMs);
  while (atMs < loadMs) {
    const durationMs = kind === 'kill' ? 0 : Math.min(chance.whole(300, DURATION_MS_MAX), loadMs - atMs);
    faults.push({
      kind,
      atMs,
      durationMs,
      ...((kind === 'kill' || kind === 'pause') && { target: chance.pick(targets) }),
      ...(kind === 'latency' && { latencyMs: chance.whole(200, LATENCY_MS_MAX) }),
    });
    atMs += durationMs + chance.whole(500, 2 * everyMs);
  }
  return faults;
}

import { isDeepStrictEqual } from 'node:util';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';
import { checkWorld } from './checker/check.ts';
import type { World } from './checker/world.ts';
import { readWorld, type Traces } from './dump.ts';
import { type Databases, openDatabases } from './read-databases.ts';

/**
 * How long a resting system must stay unchanged: longer than a comparison of the wallets, the longest pause between
 * polls, and a relay's lease.
 */
const STAY_MS = 17_000;
/** Between two looks at the whole world. */
const LOOK_PAUSE_MS = 2_000;
/** How often the world is read at the end if it changes meanwhile. */
const READS_MAX = 20;

/** Settings of services with shorter times than in production, so that a run comes to rest soon. */
export const quickServices = {
  reconciler: { POLL_CAP_MS: '3000', POLLS_BEFORE_BREAK: '8' },
  'webhook-dispatcher': {
    DELIVERY_DEADLINE_MS: '2000',
    RETRY_DELAYS_MS: Array.from({ length: 40 }, (_, at) => Math.min(500 * (at + 1), 3_000)).join(','),
  },
};

/** How much of a run is still in progress. */
export type UnderWay = Awaited<ReturnType<Databases['underWay']>>;

/** Nothing in progress. */
export const nothing: UnderWay = { outboxes: 0, deliveries: 0 };

/** A run after it was given time to come to rest. */
export interface AtRest {
  readonly world: World;
  readonly underWay: UnderWay;
  /** How long it took to come to rest; infinity if it did not. */
  readonly restedAfterMs: number;
}

/**
 * Waits until nothing is in progress and the checker finds nothing, and until that has lasted; after `restMs`, gives
 * the world as it is. It must last, because a late poll or a lease that ends may still change something.
 */
export async function untilAtRest(
  traces: Traces,
  { restMs, print }: { readonly restMs: number; readonly print: (line: string) => void },
): Promise<AtRest> {
  await using databases = await openDatabases(traces.stack.runFile().mongodbUrl, traces.prefix);
  const startedMs = performance.now();
  const isQuiet = async () => {
    // The cheap check first, and the other one rarely: reading the world takes resources that the services need to come
    // to rest.
    expect(await databases.underWay()).toEqual(nothing);
    const violations = checkWorld(await readWorld(traces, databases));
    if (violations.length > 0) {
      print(`${violations.length} violations yet, ${JSON.stringify(violations[0])}`);
      await passes(databases, (await databases.nowMs()) + LOOK_PAUSE_MS);
    }
    expect(violations).toEqual([]);
    return databases.nowMs();
  };
  const sinceMs = await eventually(isQuiet, restMs).catch(() => undefined);
  const restedAfterMs = sinceMs === undefined ? Infinity : performance.now() - startedMs;
  if (sinceMs !== undefined) await passes(databases, sinceMs + STAY_MS);
  return { ...(await readAtRest(traces, databases)), restedAfterMs };
}

/**
 * Reads the world, and once more if something has changed meanwhile, such as a code that expires minutes later: its
 * parts would be from different times, and contradict one another without any error.
 */
async function readAtRest(
  traces: Traces,
  databases: Databases,
  readsLeft = READS_MAX,
): Promise<Pick<AtRest, 'world' | 'underWay'>> {
  const before = await databases.progress();
  const world = await readWorld(traces, databases);
  const underWay = await databases.underWay();
  const hasMoved = !isDeepStrictEqual(await databases.progress(), before);
  return hasMoved && readsLeft > 1 ? readAtRest(traces, databases, readsLeft - 1) : { world, underWay };
}

/** Waits until the server's clock has passed a time. */
async function passes({ nowMs }: Databases, momentMs: number): Promise<void> {
  await eventually(async () => {
    expect(await nowMs()).toBeGreaterThan(momentMs);
  }, 2 * STAY_MS);
}

/** A summary of a run: one without ambiguity and repetition proves little. */
export function report({ calls, payments, moves, breaks, events, received, callbacks }: World): string {
  const count = <Item>(items: readonly Item[], key: (item: Item) => string) =>
    Object.fromEntries([...Map.groupBy(items, key)].map(([name, all]) => [name, all.length]));
  return JSON.stringify({
    calls: count(calls, ({ outcome }) => outcome),
    payments: count(payments, ({ api, status }) => `${api} ${status}`),
    rail: count(moves, ({ kind, outcome }) => `${kind} ${outcome}`),
    breaks: count(breaks, ({ kind, isOpen }) => `${kind} ${isOpen ? 'open' : 'resolved'}`),
    events: events.length,
    received: received.length,
    callbacks: callbacks.length,
  });
}

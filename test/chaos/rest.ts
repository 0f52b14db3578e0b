import { isDeepStrictEqual } from 'node:util';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';
import { checkWorld } from './checker/check.ts';
import type { World } from './checker/world.ts';
import { readWorld, type Traces } from './dump.ts';
import { type Databases, openDatabases } from './read-databases.ts';

/** How long what has come to rest must stay so: beyond a comparison of the wallets, a poll at its cap and a relay's lease. */
const STAY_MS = 17_000;
/** Between two looks at the whole world. */
const LOOK_PAUSE_MS = 2_000;
/** How often the world is read at the end, where it moves meanwhile. */
const READS_MAX = 20;

/** Settings of services: quick where production is patient, so that a run comes to rest soon. */
export const quickServices = {
  reconciler: { POLL_CAP_MS: '3000', POLLS_BEFORE_BREAK: '8' },
  'webhook-dispatcher': {
    DELIVERY_DEADLINE_MS: '2000',
    RETRY_DELAYS_MS: Array.from({ length: 40 }, (_, at) => Math.min(500 * (at + 1), 3_000)).join(','),
  },
};

/** How much of a run is still on its way. */
export type UnderWay = Awaited<ReturnType<Databases['underWay']>>;

/** What is under way at rest. */
export const nothing: UnderWay = { outboxes: 0, deliveries: 0 };

/** A run after it was given time to come to rest. */
export interface Settled {
  readonly world: World;
  readonly underWay: UnderWay;
  /** How long it took to come to rest; infinite where it did not. */
  readonly restedAfterMs: number;
}

/**
 * Waits until nothing is under way and the checker is content, and then until that has lasted; after `restMs`, gives the
 * world as it is. What was agreed must stay so: a late poll or a lease that runs out may move something yet.
 */
export async function settled(
  traces: Traces,
  { restMs, print }: { readonly restMs: number; readonly print: (line: string) => void },
): Promise<Settled> {
  await using databases = await openDatabases(traces.stack.runFile().mongodbUrl, traces.prefix);
  const startedMs = performance.now();
  const isQuiet = async () => {
    // The cheap question first, and the other one seldom: reading the world takes what the services need to come to rest.
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
 * Reads the world, and once more where something has moved meanwhile, as a code that expires minutes later: its parts would
 * be of different times, and contradict each other where nothing is wrong.
 */
async function readAtRest(
  traces: Traces,
  databases: Databases,
  readsLeft = READS_MAX,
): Promise<Pick<Settled, 'world' | 'underWay'>> {
  const before = await databases.progress();
  const world = await readWorld(traces, databases);
  const underWay = await databases.underWay();
  const hasMoved = !isDeepStrictEqual(await databases.progress(), before);
  return hasMoved && readsLeft > 1 ? readAtRest(traces, databases, readsLeft - 1) : { world, underWay };
}

/** Waits until the server's clock has passed a moment. */
async function passes({ nowMs }: Databases, momentMs: number): Promise<void> {
  await eventually(async () => {
    expect(await nowMs()).toBeGreaterThan(momentMs);
  }, 2 * STAY_MS);
}

/** What a run has been through: one that saw no ambiguity and no repeat proves little. */
export function tell({ calls, payments, moves, breaks, events, received, callbacks }: World): string {
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

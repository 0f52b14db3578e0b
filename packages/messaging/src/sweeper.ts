import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Collection } from 'mongodb';
import {
  type BundleDocument,
  bundlesOf,
  commitBundles,
  type Outbox,
  ownerOf,
  sourceOf,
  unpackBundle,
} from './bundle.ts';
import { endLease, type Lease, takeLease } from './lease.ts';
import { type Loop, startLoop } from './loop.ts';
import type { Ownership } from './ownership.ts';
import type { Relay } from './relay.ts';

const PAUSE_MS = 1_000;
/** A process that has not said for so long that it lives is dead, or asleep. */
const ALIVE_MS = 5_000;
/** What dead processes said of themselves is of no use after this. */
const GONE_AFTER_MS = 86_400_000;
/** So long it is given once it was found silent. */
const SILENT_MS = 2_000;
const SWEEPER_LEASE_MS = 15_000;
/** A bundle of our own that is older and not in our hands: its commit was not known to have succeeded. */
const FORGOTTEN_AFTER_MS = 5_000;
const BUNDLES_PER_READ = 8;
const BUNDLES_AT_ONCE_MAX = 500;

const aliveLease = (owner: string) => `alive/${owner}`;
const SWEEPER_LEASE = 'outbox-sweeper';

interface SweeperDeps {
  readonly outbox: Outbox;
  readonly leases: Collection<Lease>;
  readonly relay: Relay;
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Sends what dead processes left of their group commits, one sweeper at a time over all replicas, each source in its
 * order. What a process that lives has not sent yet is its own to send: Kafka may be away.
 *
 * A partition's bundles are its next owner's: sent by anyone else, an old balance could come after a newer one.
 */
export function startSweeper(deps: SweeperDeps): Loop {
  const isDead = createDeathWatch(deps);
  const sweeping = new Map<string, Promise<void>>();
  let sweeps = false;
  /** Kafka may take its time, or refuse a source: neither this round nor another source waits for it. */
  const sweep = (source: string, send: () => Promise<void>) => {
    if (sweeping.has(source)) return;
    const sent = send()
      .catch((error: unknown) => deps.logger.error({ err: error, source }, 'a source cannot be swept yet'))
      .finally(() => sweeping.delete(source));
    sweeping.set(source, sent);
  };
  const loop = startLoop({
    name: 'outbox sweeper',
    pauseMs: PAUSE_MS,
    clock: deps.clock,
    logger: deps.logger,
    round: async (signal) => {
      const { leases, owner } = deps;
      sweeps = await takeLease(leases, { name: SWEEPER_LEASE, owner, durationMs: SWEEPER_LEASE_MS });
      for await (const source of sourcesOf(deps.outbox)) {
        if (signal.aborted) return false;
        if (ownerOf(source) === owner) sweep(source, () => sendForgotten(deps, source));
        else if (sweeps && (await isDead(ownerOf(source))))
          sweep(source, () =>
            sendAll(deps, source, async () => sweeps && !signal.aborted && isDead(ownerOf(source))),
          );
      }
      return false;
    },
  });
  return endingLease(loop, deps, SWEEPER_LEASE);
}

/** A loop that holds a lease for as long as it runs, and leaves it to others once it is closed. */
function endingLease(
  loop: Loop,
  { leases, owner }: Pick<SweeperDeps, 'leases' | 'owner'>,
  name: string,
): Loop {
  return {
    wake: loop.wake,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await endLease(leases, { name, owner });
    },
  };
}

/** What saying that a process lives needs. */
export interface PresenceDeps extends Omit<SweeperDeps, 'outbox' | 'relay'> {
  readonly ownership: Pick<Ownership, 'aliveUntil'>;
  /** The clock that {@link Ownership} goes by. */
  readonly monotonicMs: () => number;
}

/**
 * Says for as long as the process lives that it does, so that no other process sends what is its own to send; resolves
 * once it has been said. One that was silent for too long, being paused or without its database, sends all that it still has
 * once it was said again: what was swept meanwhile is there twice, and nothing comes after what is newer for the first time.
 * One that ends in order says so: another process need not wait to send what it has left.
 */
export async function startPresence(deps: PresenceDeps): Promise<Loop> {
  const { leases, owner, clock, logger, ownership } = deps;
  const say = async () => {
    // The lease counts from the request's arrival; whoever finds it over waits for as long as a silence takes.
    const untilMs = deps.monotonicMs() + ALIVE_MS;
    await takeLease(leases, { name: aliveLease(owner), owner, durationMs: ALIVE_MS });
    ownership.aliveUntil(untilMs);
  };
  await leases.deleteMany({ _id: /^alive\//, until: { $lt: new Date(clock.nowMs() - GONE_AFTER_MS) } });
  await say();
  const loop = startLoop({
    name: 'presence',
    pauseMs: ALIVE_MS / 4,
    clock,
    logger,
    round: async () => {
      await say();
      return false;
    },
  });
  return endingLease(loop, deps, aliveLease(owner));
}

/** The sources of group commits that have bundles: a step by key for each, however many they have. */
async function* sourcesOf(outbox: Outbox): AsyncGenerator<string> {
  let after: string = commitBundles._id.$gte;
  for (;;) {
    const next = await outbox.findOne(
      { _id: { $gte: after, $lt: commitBundles._id.$lt } },
      { projection: { _id: 1 }, sort: { _id: 1 } },
    );
    if (!next) return;
    const source = sourceOf(next._id);
    yield source;
    after = bundlesOf(source)._id.$lt;
  }
}

/**
 * Builds what says whether a process is dead: it has not said that it lives, and says nothing for a while longer. After a
 * failover all have been silent for as long as there was no primary.
 */
function createDeathWatch({ leases, clock }: SweeperDeps): (owner: string) => Promise<boolean> {
  const silent = new Map<string, { readonly untilMs: number; readonly sinceMs: number }>();
  return async (owner) => {
    const [lease] = await leases
      .aggregate<{ readonly until: Date; readonly isOver: boolean }>([
        { $match: { _id: aliveLease(owner) } },
        { $project: { until: 1, isOver: { $lt: ['$until', '$$NOW'] } } },
      ])
      .toArray();
    if (lease && !lease.isOver) {
      silent.delete(owner);
      return false;
    }
    const untilMs = lease?.until.getTime() ?? 0;
    const before = silent.get(owner);
    if (before?.untilMs === untilMs) return clock.nowMs() - before.sinceMs >= SILENT_MS;
    silent.set(owner, { untilMs, sinceMs: clock.nowMs() });
    return false;
  };
}

async function sendForgotten(deps: SweeperDeps, source: string): Promise<void> {
  const before = new Date(deps.clock.nowMs() - FORGOTTEN_AFTER_MS);
  const old = await deps.outbox
    .find({ ...bundlesOf(source), createdAt: { $lt: before } })
    .project<Pick<BundleDocument, '_id'>>({ _id: 1 })
    .sort({ _id: 1 })
    .limit(BUNDLES_AT_ONCE_MAX)
    .toArray();
  await send(
    deps,
    old.map(({ _id }) => _id).filter((id) => !deps.relay.holds(id)),
    async () => true,
  );
}

/** Whether it goes on is asked before each read: a process that lives again sends its own. */
async function sendAll(deps: SweeperDeps, source: string, goesOn: () => Promise<boolean>): Promise<void> {
  while (await goesOn()) {
    const left = await deps.outbox
      .find(bundlesOf(source))
      .project<Pick<BundleDocument, '_id'>>({ _id: 1 })
      .sort({ _id: 1 })
      .limit(BUNDLES_AT_ONCE_MAX)
      .toArray();
    const ids = left.map(({ _id }) => _id).filter((id) => !deps.relay.holds(id));
    if (ids.length === 0) return;
    await send(deps, ids, goesOn);
  }
}

async function send(
  { outbox, relay, logger }: SweeperDeps,
  ids: readonly string[],
  goesOn: () => Promise<boolean>,
): Promise<void> {
  if (ids.length === 0) return;
  logger.warn({ bundles: ids.length }, 'sending what a crash left behind');
  for (let start = 0; start < ids.length && (await goesOn()); start += BUNDLES_PER_READ) {
    const found = outbox.find({ _id: { $in: ids.slice(start, start + BUNDLES_PER_READ) } }).sort({ _id: 1 });
    const sends: Promise<void>[] = [];
    for await (const bundle of found) sends.push(relay.send(unpackBundle(bundle)));
    await Promise.all(sends);
  }
}

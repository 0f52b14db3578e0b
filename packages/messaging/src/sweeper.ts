import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Collection } from 'mongodb';
import { type BundleDocument, commitBundles, type Outbox, unpackBundle } from './bundle.ts';
import { type Lease, takeLease } from './lease.ts';
import { type Loop, startLoop } from './loop.ts';
import type { Relay } from './relay.ts';

const ORPHAN_AGE_MS = 5_000;
const PAUSE_MS = 2_000;
const LEASE_MS = 15_000;
const BUNDLES_PER_ROUND_MAX = 500;
const BUNDLES_PER_READ = 8;

/**
 * Sends what a crashed process left of its group commits; one sweeper at a time over all replicas.
 *
 * A partition's bundles are its next owner's: sent by anyone else, an old balance could come after a newer one.
 */
export function startSweeper(options: {
  readonly outbox: Outbox;
  readonly leases: Collection<Lease>;
  readonly relay: Relay;
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}): Loop {
  return startLoop({
    name: 'outbox sweeper',
    pauseMs: PAUSE_MS,
    clock: options.clock,
    logger: options.logger,
    round: async () => {
      const mine = await takeLease(options.leases, {
        name: 'outbox-sweeper',
        owner: options.owner,
        durationMs: LEASE_MS,
      });
      if (!mine) return false;
      const before = new Date(options.clock.nowMs() - ORPHAN_AGE_MS);
      const orphans = await options.outbox
        .find({ ...commitBundles, createdAt: { $lt: before } })
        .project<Pick<BundleDocument, '_id'>>({ _id: 1 })
        .sort({ _id: 1 })
        .limit(BUNDLES_PER_ROUND_MAX)
        .toArray();
      const left = orphans.map(({ _id }) => _id).filter((id) => !options.relay.holds(id));
      const taken = await handOver(options, left);
      return taken > 0 && (taken < left.length || orphans.length === BUNDLES_PER_ROUND_MAX);
    },
  });
}

/** Sends bundles for as long as the relay has room: a few are read at a time, since each may be large. Gives how many. */
async function handOver(
  { outbox, relay, logger }: { readonly outbox: Outbox; readonly relay: Relay; readonly logger: Logger },
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0 || !relay.hasRoom()) return 0;
  logger.warn({ bundles: ids.length }, 'sending what a crash left behind');
  const sends: Promise<void>[] = [];
  const found = outbox.find({ _id: { $in: ids } }, { batchSize: BUNDLES_PER_READ }).sort({ _id: 1 });
  for await (const bundle of found) {
    if (!relay.hasRoom()) break;
    const sent = relay.send(unpackBundle(bundle));
    // Awaited below, with the others.
    sent.catch(() => undefined);
    sends.push(sent);
  }
  await Promise.all(sends);
  return sends.length;
}

import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Collection } from 'mongodb';
import { commitBundles, type Outbox, unpackBundle } from './bundle.ts';
import { type Lease, takeLease } from './lease.ts';
import { type Loop, startLoop } from './loop.ts';
import type { Relay } from './relay.ts';

const ORPHAN_AGE_MS = 5_000;
const PAUSE_MS = 2_000;
const LEASE_MS = 15_000;
const BUNDLES_PER_ROUND_MAX = 500;

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
        .sort({ _id: 1 })
        .limit(BUNDLES_PER_ROUND_MAX)
        .toArray();
      const left = orphans.filter((bundle) => !options.relay.holds(bundle._id));
      if (left.length === 0) return false;
      options.logger.warn({ bundles: left.length }, 'sending what a crash left behind');
      await Promise.all(left.map((bundle) => options.relay.send(unpackBundle(bundle))));
      return left.length === BUNDLES_PER_ROUND_MAX;
    },
  });
}

import type { Clock, Ids } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Collection, Document, Filter, WithId } from 'mongodb';
import { type Loop, startLoop } from './loop.ts';

/** The fields that claimable records share. */
export interface Claimable {
  readonly _id: string;
  /** When the record is next due; moving it forward is the lease. Absent once nothing is left to do. */
  readonly dueAt?: Date;
  /** The token of the latest claim; what a worker finishes must still carry it. */
  readonly claim?: string;
}

/** How a claim loop works. */
export interface ClaimOptions<Record extends Claimable> {
  readonly name: string;
  readonly collection: Collection<Record>;
  /** Which records are open to claiming; served by an index that ends in `dueAt`. */
  readonly open: Filter<Record>;
  /** Further aggregation `$set` fields that the claim writes, such as the next state. */
  readonly mark?: Document;
  /** Whether anything is to be claimed now; always, where it is left out. Asked before each claim. */
  readonly mayClaim?: () => boolean;
  readonly leaseMs: number;
  /** The longest that one piece of work may take; the lease must outlast it. */
  readonly workTimeoutMs: number;
  readonly batchMax: number;
  readonly concurrencyMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Gets when the record was claimed at the earliest, by `clock`: the claim's age is told on one clock. */
  readonly work: (record: WithId<Record>, claim: string, claimedAtMs: number) => Promise<void>;
}

/**
 * Claims due records in batches and works on them outside any transaction, at most `concurrencyMax` at once.
 *
 * A dead worker's records come back by themselves when the lease runs out; a worker that wakes up late finds its claim
 * replaced (research/kafka-mongo 4). The intent is committed by the claim itself, before any call to the outside.
 */
export function startClaimLoop<Record extends Claimable>(options: ClaimOptions<Record>): Loop {
  if (options.leaseMs < options.workTimeoutMs * 1.5) {
    throw new RangeError(
      `${options.name}: a lease of ${options.leaseMs} ms does not outlast work of ${options.workTimeoutMs} ms`,
    );
  }
  const working = new Set<Promise<void>>();

  const loop = startLoop({
    name: options.name,
    pauseMs: options.pauseMs,
    clock: options.clock,
    logger: options.logger,
    round: async () => {
      if (options.mayClaim?.() === false) return false;
      const room = Math.min(options.batchMax, options.concurrencyMax - working.size);
      if (room <= 0) {
        await Promise.race(working);
        return true;
      }
      const { token, claimedAtMs, records } = await claimBatch(options, room);
      for (const record of records) begin(record, token, claimedAtMs);
      return records.length === room;
    },
  });

  function begin(record: WithId<Record>, token: string, claimedAtMs: number): void {
    const work = options
      .work(record, token, claimedAtMs)
      .catch((error: unknown) => {
        options.logger.error(
          { err: error, loop: options.name, record: record._id },
          'work failed; it is due again after its lease',
        );
      })
      .finally(() => working.delete(work));
    working.add(work);
  }

  return {
    wake: loop.wake,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await Promise.all(working);
    },
  };
}

/** What was claimed, and when at the earliest by our own clock. */
interface Batch<Record extends Claimable> {
  readonly token: string;
  readonly claimedAtMs: number;
  readonly records: readonly WithId<Record>[];
}

/** Claims up to so many due records by moving `dueAt` forward, by the server's clock. */
async function claimBatch<Record extends Claimable>(
  options: ClaimOptions<Record>,
  limit: number,
): Promise<Batch<Record>> {
  const nowMs = options.clock.nowMs();
  const due = { ...options.open, dueAt: { $lte: new Date(nowMs) } } as Filter<Record>;
  const found = await options.collection
    .find(due)
    .project<{ _id: string }>({ _id: 1 })
    .sort({ dueAt: 1 })
    .limit(limit)
    .toArray();
  const token = options.ids.next('cm');
  if (found.length === 0) return { token, claimedAtMs: nowMs, records: [] };
  const ids = { $in: found.map(({ _id }) => _id) };
  const stillDue = { ...due, _id: ids, $expr: { $lte: ['$dueAt', '$$NOW'] } };
  const claimedAtMs = options.clock.nowMs();
  await options.collection.updateMany(stillDue, [
    { $set: { ...options.mark, claim: token, dueAt: { $add: ['$$NOW', options.leaseMs] } } },
  ]);
  const records = await options.collection.find({ _id: ids, claim: token } as Filter<Record>).toArray();
  return { token, claimedAtMs, records };
}

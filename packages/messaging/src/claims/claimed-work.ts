import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import { bulkhead } from 'cockatiel';
import type { WithId } from 'mongodb';
import type { Claimable } from './claim.ts';

/** Records the outcome of a piece of work; its place is free for others meanwhile. */
export type RecordOutcome = () => Promise<void>;

/** How claimed records are worked on. */
export interface WorkOptions<One extends Claimable> {
  readonly name: string;
  /** How much work runs at once. */
  readonly concurrencyMax: number;
  /**
   * How many more records may be claimed, waiting for a place or being recorded, but never more than were worked on in
   * the last second: so a burst needs no search, and work does not wait behind a slow rail. None, if left out. The work must
   * judge by `claimedAtMs` whether it comes too late.
   */
  readonly waitingMax?: number;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
  /**
   * Does the work. `claimedAtMs` is the earliest time by `clock` at which the record can have been claimed, so that
   * the claim's age is measured by one clock.
   */
  readonly work: (
    record: WithId<One>,
    claim: string,
    claimedAtMs: number,
  ) => Promise<RecordOutcome> | Promise<void>;
}

/** The claimed records of a loop that wait for a place, are worked on, or are being recorded. */
export interface ClaimedWork<One extends Claimable> {
  readonly begin: (record: WithId<One>, claim: string, claimedAtMs: number) => void;
  /** Waits for further work of the loop as for that on a record. */
  readonly track: (work: Promise<void>, record?: string) => void;
  /** How many more records may be claimed. */
  readonly roomLeft: () => number;
  readonly all: ReadonlySet<Promise<void>>;
}

/** Builds {@link ClaimedWork}. */
export function createClaimedWork<One extends Claimable>(
  options: WorkOptions<One>,
): ClaimedWork<One> {
  const all = new Set<Promise<void>>();
  const places = bulkhead(options.concurrencyMax, Number.MAX_SAFE_INTEGER);
  const throughput = createThroughputMeter(options.clock);
  const track: ClaimedWork<One>['track'] = (work, record) => {
    const tracked = work
      .catch((error: unknown) => {
        options.logger.error(
          { err: error, loop: options.name, record },
          'work failed; it is due again after its lease',
        );
      })
      .finally(() => all.delete(tracked));
    all.add(tracked);
  };
  const work = async (...claimed: Parameters<typeof options.work>) => {
    const recorded = await places
      .execute((): Promise<RecordOutcome | void> => options.work(...claimed))
      .finally(throughput.countEnd);
    await recorded?.();
  };
  return {
    begin: (record, claim, claimedAtMs) => track(work(record, claim, claimedAtMs), record._id),
    track,
    roomLeft: () =>
      options.concurrencyMax + Math.min(options.waitingMax ?? 0, throughput.perSecond()) - all.size,
    all,
  };
}

/** How much work has ended of late. */
interface ThroughputMeter {
  readonly countEnd: () => void;
  /** In the last second, or in the second before it if that was more. */
  readonly perSecond: () => number;
}

/** Builds a {@link ThroughputMeter}; a clock that is set forward only makes it forget. */
export function createThroughputMeter(clock: Pick<Clock, 'nowMs'>): ThroughputMeter {
  let second = 0;
  let ended = 0;
  let endedBefore = 0;
  const advance = () => {
    const now = Math.floor(clock.nowMs() / 1_000);
    if (now === second) return;
    endedBefore = now === second + 1 ? ended : 0;
    ended = 0;
    second = now;
  };
  return {
    countEnd: () => {
      advance();
      ended += 1;
    },
    perSecond: () => {
      advance();
      return Math.max(ended, endedBefore);
    },
  };
}

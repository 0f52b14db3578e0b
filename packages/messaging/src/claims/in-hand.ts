import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import { bulkhead } from 'cockatiel';
import type { WithId } from 'mongodb';
import type { Claimable } from './claim.ts';
import { createThroughputMeter } from './pace.ts';

/** Records what came of a piece of work, without a place: others are worked on meanwhile. */
export type RecordOutcome = () => Promise<void>;

/** How claimed records are worked on. */
export interface WorkOptions<Record extends Claimable> {
  readonly name: string;
  /** How much work runs at once. */
  readonly concurrencyMax: number;
  /**
   * How many more records may be in hand, waiting for a place or being recorded, but never more than were worked on in
   * the last second: so a burst needs no search, and a slow rail keeps nobody waiting. None, if left out. The work must
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
    record: WithId<Record>,
    claim: string,
    claimedAtMs: number,
  ) => Promise<RecordOutcome> | Promise<void>;
}

/** The claimed records of a loop that wait for a place, are worked on, or are being recorded. */
export interface ClaimedWork<Record extends Claimable> {
  readonly begin: (record: WithId<Record>, claim: string, claimedAtMs: number) => void;
  /** Waits for further work of the loop as for that on a record. */
  readonly track: (work: Promise<void>, record?: string) => void;
  /** How many more records may be taken in hand. */
  readonly roomLeft: () => number;
  readonly all: ReadonlySet<Promise<void>>;
}

/** Builds {@link ClaimedWork}. */
export function createClaimedWork<Record extends Claimable>(options: WorkOptions<Record>): ClaimedWork<Record> {
  const all = new Set<Promise<void>>();
  const places = bulkhead(options.concurrencyMax, Number.MAX_SAFE_INTEGER);
  const pace = createThroughputMeter(options.clock);
  const keep: ClaimedWork<Record>['track'] = (work, record) => {
    const kept = work
      .catch((error: unknown) => {
        options.logger.error(
          { err: error, loop: options.name, record },
          'work failed; it is due again after its lease',
        );
      })
      .finally(() => all.delete(kept));
    all.add(kept);
  };
  const work = async (...claimed: Parameters<typeof options.work>) => {
    const recorded = await places
      .execute((): Promise<RecordOutcome | void> => options.work(...claimed))
      .finally(pace.countEnd);
    await recorded?.();
  };
  return {
    begin: (record, claim, claimedAtMs) => keep(work(record, claim, claimedAtMs), record._id),
    track: keep,
    roomLeft: () => options.concurrencyMax + Math.min(options.waitingMax ?? 0, pace.perSecond()) - all.size,
    all,
  };
}

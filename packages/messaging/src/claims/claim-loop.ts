import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import { bulkhead } from 'cockatiel';
import type { WithId } from 'mongodb';
import { type Loop, startLoop } from '../loop.ts';
import { type Claimable, type ClaimRules, createClaimer } from './claim.ts';
import { type ClaimOnWrite, createWriteClaims, type WriteClaims } from './claim-on-write.ts';

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
   * Does the work, and gives what records its outcome, if anything does. `claimedAtMs` is the earliest time by `clock` at
   * which the record can have been claimed, so that the claim's age is measured by one clock.
   */
  readonly work: (
    record: WithId<One>,
    claim: string,
    claimedAtMs: number,
  ) => Promise<RecordOutcome> | Promise<void>;
}

/** How a claim loop works. */
export interface ClaimOptions<One extends Claimable> extends ClaimRules<One>, WorkOptions<One> {
  /** Whether anything may be claimed now, asked before each claim; always, if left out. */
  readonly mayClaim?: () => boolean;
  /** The maximum time that one piece of work may take; the lease must be longer. */
  readonly workTimeoutMs: number;
  readonly batchMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
}

/** A loop that claims due records, and others already as they are written. */
export interface ClaimLoop<One extends Claimable> extends Loop {
  /**
   * Claims records as a transaction writes them, as far as the loop has room, so that no claim is written for them. What
   * a crash leaves of them is due after the lease.
   */
  readonly claimOnWrite: ClaimOnWrite<One>;
}

/** How long a full loop waits for places that transactions have reserved. */
const RESERVED_FOR_MS = 20;

/**
 * Claims due records in batches and works on them outside any transaction, at most `concurrencyMax` at once.
 *
 * A dead worker's records come back by themselves when the lease runs out; a worker that wakes up late finds its claim
 * replaced. The intent is committed by the claim itself, before any call to the outside.
 */
export function startClaimLoop<One extends Claimable>(options: ClaimOptions<One>): ClaimLoop<One> {
  if (options.leaseMs < options.workTimeoutMs * 1.5) {
    throw new RangeError(
      `${options.name}: a lease of ${options.leaseMs} ms does not outlast work of ${options.workTimeoutMs} ms`,
    );
  }
  const inHand = createClaimedWork(options);
  let claiming = 0;
  let isClosing = false;
  const claimBatch = createClaimer(options);
  const writeClaims: WriteClaims<One> = createWriteClaims(options, {
    ...inHand,
    roomLeft: () => (!isClosing && options.mayClaim?.() !== false ? roomLeft() : 0),
  });
  const roomLeft = () => inHand.roomLeft() - claiming - writeClaims.reserved();

  const loop = startLoop({
    name: options.name,
    pauseMs: options.pauseMs,
    clock: options.clock,
    logger: options.logger,
    round: async (signal, processed) => {
      if (options.mayClaim?.() === false) return false;
      const room = Math.min(options.batchMax, roomLeft());
      if (room <= 0) {
        const reserved = writeClaims.reserved() > 0 ? [options.clock.sleep(RESERVED_FOR_MS, signal)] : [];
        await Promise.race([...inHand.all, ...reserved]);
        return true;
      }
      const { token, claimedAtMs, records, more, isRateLimited } = await claimBatch(room, (found) => {
        claiming = Math.max(0, Math.min(found, roomLeft()));
        return claiming;
      }).finally(() => {
        claiming = 0;
      });
      for (const record of records) inHand.begin(record, token, claimedAtMs);
      processed(records.length);
      writeClaims.setRateLimited(isRateLimited);
      options.claimed?.(records.length, isRateLimited);
      if (!options.rateLimit || !isRateLimited) return more;
      // After a rate limit waking up is useless: no tokens come sooner.
      await options.clock.sleep(Math.min(options.rateLimit.retryAfterMs, options.pauseMs), signal);
      return true;
    },
  });

  return {
    wake: loop.wake,
    claimOnWrite: writeClaims.claimOnWrite,
    [Symbol.asyncDispose]: async () => {
      isClosing = true;
      await loop[Symbol.asyncDispose]();
      while (inHand.all.size > 0) await Promise.all(inHand.all);
    },
  };
}

/** The claimed records of a loop that wait for a place, are worked on, or are being recorded. */
export function createClaimedWork<One extends Claimable>(options: WorkOptions<One>) {
  const all = new Set<Promise<void>>();
  const places = bulkhead(options.concurrencyMax, Number.MAX_SAFE_INTEGER);
  const throughput = createThroughputMeter(options.clock);
  /** Waits for further work of the loop as for that on a record. */
  const track = (work: Promise<void>, record?: string): void => {
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
    begin: (...claimed: Parameters<typeof work>): void => track(work(...claimed), claimed[0]._id),
    track,
    /** How many more records may be claimed. */
    roomLeft: () =>
      options.concurrencyMax + Math.min(options.waitingMax ?? 0, throughput.perSecond()) - all.size,
    all,
  };
}

/** Counts how much work has ended of late; a clock that is set forward only makes it forget. */
export function createThroughputMeter(clock: Pick<Clock, 'nowMs'>) {
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
    /** In the last second, or in the second before it if that was more. */
    perSecond: () => {
      advance();
      return Math.max(ended, endedBefore);
    },
  };
}

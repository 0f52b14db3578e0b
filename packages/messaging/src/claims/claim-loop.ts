import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { WithId } from 'mongodb';
import { type Loop, startLoop } from '../loop.ts';
import { type BirthClaims, type BirthToken, type ClaimAtBirth, createBirthClaims } from './birth-claim.ts';
import { type Claimable, type ClaimRateLimit, type ClaimRules, createClaimer, giveUp } from './claim.ts';

/** How a claim loop works. */
export interface ClaimOptions<Record extends Claimable> extends ClaimRules<Record> {
  readonly name: string;
  /** Whether anything may be claimed now, asked before each claim; always, if left out. */
  readonly mayClaim?: () => boolean;
  /** The maximum time that one piece of work may take; the lease must be longer. */
  readonly workTimeoutMs: number;
  readonly batchMax: number;
  readonly concurrencyMax: number;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Called after every search for due records, and after claims at birth, with how many were claimed and whether the
   * rate limit left others waiting.
   */
  readonly claimed?: (records: number, isRateLimited: boolean) => void;
  /**
   * Does the work. `claimedAtMs` is the earliest time by `clock` at which the record can have been claimed, so that
   * the claim's age is measured by one clock.
   */
  readonly work: (record: WithId<Record>, claim: string, claimedAtMs: number) => Promise<void>;
}

/** A loop that claims due records, and others already as they are written. */
export interface ClaimLoop<Record extends Claimable> extends Loop {
  /**
   * Claims records as a transaction writes them, as far as the loop has room, so that no claim is written for them. What
   * a crash leaves of them is due after the lease.
   */
  readonly claimAtBirth: ClaimAtBirth<Record>;
}

/**
 * Claims due records in batches and works on them outside any transaction, at most `concurrencyMax` at once.
 *
 * A dead worker's records come back by themselves when the lease runs out; a worker that wakes up late finds its claim
 * replaced. The intent is committed by the claim itself, before any call to the outside.
 */
export function startClaimLoop<Record extends Claimable>(options: ClaimOptions<Record>): ClaimLoop<Record> {
  if (options.leaseMs < options.workTimeoutMs * 1.5) {
    throw new RangeError(
      `${options.name}: a lease of ${options.leaseMs} ms does not outlast work of ${options.workTimeoutMs} ms`,
    );
  }
  const working = new Set<Promise<void>>();
  let claiming = 0;
  let isClosing = false;
  const claimBatch = createClaimer(options);
  let hasBacklog = false;
  const births: BirthClaims<Record> = createBirthClaims(options, {
    roomLeft: () => (mayBear() ? roomLeft() : 0),
    begin: beginBorn,
  });
  // Within a rate limit older records that wait for tokens come first.
  const mayBear = () => !isClosing && !(options.rateLimit && hasBacklog) && options.mayClaim?.() !== false;
  const roomLeft = () => options.concurrencyMax - working.size - claiming - births.reserved();

  const loop = startLoop({
    name: options.name,
    pauseMs: options.pauseMs,
    clock: options.clock,
    logger: options.logger,
    round: async (signal, processed) => {
      if (options.mayClaim?.() === false) return false;
      const room = Math.min(options.batchMax, roomLeft());
      if (room <= 0) {
        // Without work the places are reserved, for a moment.
        if (working.size === 0) return false;
        await Promise.race(working);
        return true;
      }
      const { token, claimedAtMs, records, more, isRateLimited } = await claimBatch(room, (found) => {
        claiming = Math.max(0, Math.min(found, roomLeft()));
        return claiming;
      }).finally(() => {
        claiming = 0;
      });
      for (const record of records) begin(record, token, claimedAtMs);
      processed(records.length);
      hasBacklog = more || isRateLimited;
      options.claimed?.(records.length, isRateLimited);
      if (!options.rateLimit || !isRateLimited) return more;
      // After a rate limit waking up is useless: no tokens come sooner.
      await options.clock.sleep(Math.min(options.rateLimit.againMs, options.pauseMs), signal);
      return true;
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

  /** Begins the work on born records, as far as there are tokens for them; the others are due. */
  async function beginLimited(
    rateLimit: ClaimRateLimit,
    records: readonly WithId<Record>[],
    { claim, claimedAtMs }: BirthToken,
  ): Promise<void> {
    const { count, at } = await rateLimit.take(records.length);
    const { stamp } = options;
    for (const record of records.slice(0, count))
      begin({ ...record, ...(stamp !== undefined && { [stamp]: at }) }, claim, claimedAtMs);
    options.claimed?.(count, count < records.length);
    if (count === records.length) return;
    hasBacklog = true;
    const ids = records.slice(count).map(({ _id }) => _id);
    await giveUp(options, ids, claim);
  }

  function beginBorn(records: readonly WithId<Record>[], token: BirthToken, release: () => void): void {
    if (!options.rateLimit || records.length === 0) {
      release();
      for (const record of records) begin(record, token.claim, token.claimedAtMs);
      return;
    }
    const beginning = beginLimited(options.rateLimit, records, token)
      .catch((error: unknown) => {
        options.logger.error(
          { err: error, loop: options.name },
          'claims at birth failed; their records are due again after their lease',
        );
      })
      .finally(() => {
        release();
        working.delete(beginning);
      });
    working.add(beginning);
  }

  return {
    wake: loop.wake,
    claimAtBirth: births.claimAtBirth,
    [Symbol.asyncDispose]: async () => {
      isClosing = true;
      await loop[Symbol.asyncDispose]();
      while (working.size > 0) await Promise.all(working);
    },
  };
}

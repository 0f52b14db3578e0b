import type { Clock } from '@pesewa/kernel';
import { type Loop, startLoop } from '../loop.ts';
import { type Claimable, type ClaimRules, createClaimer } from './claim.ts';
import { type ClaimOnWrite, createWriteClaims, type WriteClaims } from './claim-on-write.ts';
import { createClaimedWork, type WorkOptions } from './claimed-work.ts';

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

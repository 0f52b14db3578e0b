import type { ClaimRateLimit, Tokens } from '@pesewa/messaging';
import type { Db } from 'mongodb';

/** The rate at which a rail may be asked, over all replicas together (ADR 26). */
export type RailRateLimit = ReturnType<typeof openRailRateLimit>;

/** How many tokens are taken: `perSecond` is the rate over all replicas; those of up to half a second accumulate. */
interface Taking {
  readonly wanted: number;
  readonly perSecond: number;
  /** Set by a caller that leaves half of as many to others. */
  readonly leavesReserve?: true;
}

/** The remaining tokens of a rail. */
interface RateLimitDocument {
  readonly _id: string;
  readonly tokens: number;
  readonly at: Date;
  /** How many the latest caller got, by which it reads its own result. */
  readonly granted: number | bigint;
}

/**
 * Longer than the pause between two searches of a replica, or part of the rate would be lost; and short enough to
 * remain a rate limit.
 */
const SAVED_UP_S = 0.5;

const NONE: Tokens = { count: 0 };

/** When to take tokens again after they have run out: not at once, even if the rate is high. */
export function retryAfterMs(perSecond: number): number {
  return Math.max(50, 1_000 / perSecond);
}

/** How often closes may ask a rail: at most half as often as the rail may be asked, and no more than is set. */
function closesPerSecond(perSecondMax: number, railPerSecond: number): number {
  return Math.min(perSecondMax, railPerSecond / 2);
}

/**
 * The rate limit of a rail's closes: their own rate within the one that they share with polls, of which they leave a
 * reserve, so that payments in flight are asked about however much is to be closed.
 */
export function closeRateLimit(
  rateLimit: RailRateLimit,
  rail: string,
  rates: { readonly perSecondMax: number; readonly railPerSecond: number },
): ClaimRateLimit {
  const { railPerSecond } = rates;
  const share = `close of ${rail}`;
  const perSecond = closesPerSecond(rates.perSecondMax, railPerSecond);
  return {
    take: async (wanted) => {
      const { count: allowed } = await rateLimit.take(share, { wanted, perSecond });
      const ofRail = { wanted: allowed, perSecond: railPerSecond, leavesReserve: true } as const;
      const tokens = await rateLimit.take(rail, ofRail);
      await rateLimit.giveBack(share, allowed - tokens.count);
      return tokens;
    },
    giveBack: async (unused) => {
      await rateLimit.giveBack(share, unused);
      await rateLimit.giveBack(rail, unused);
    },
    retryAfterMs: retryAfterMs(perSecond),
  };
}

/**
 * Opens the rate limits of all rails: a token bucket per rail in the database, by the database's clock.
 *
 * A new bucket is full, like one that was not used for long. Tokens lost with a dead process make the others no faster.
 * A caller without tokens tries again after its usual pause: tokens come back evenly, so a queue would gain nothing.
 */
export function openRailRateLimit(db: Pick<Db, 'collection'>) {
  const rateLimits = db.collection<RateLimitDocument>('rateLimits');
  return {
    /** Takes as many tokens to ask a rail as there are, at most `wanted`. */
    take: async (rail: string, { wanted, perSecond, leavesReserve }: Taking): Promise<Tokens> => {
      if (wanted <= 0 || perSecond <= 0) return NONE;
      const most = Math.max(1, perSecond * SAVED_UP_S);
      // A bucket of one token has no room for a reserve: there the rate of a caller's own share must do.
      const reserve = leavesReserve ? Math.min(most / 2, most - 1) : 0;
      // A clock that was set back adds no tokens and removes none.
      const elapsedMs = { $max: [0, { $subtract: ['$$NOW', '$at'] }] };
      const refilled = { $add: ['$tokens', { $multiply: [elapsedMs, perSecond / 1_000] }] };
      const spare = { $floor: { $subtract: ['$tokens', reserve] } };
      const bucket = await rateLimits.findOneAndUpdate(
        { _id: rail },
        [
          { $set: { tokens: { $min: [most, { $ifNull: [refilled, most] }] }, at: '$$NOW' } },
          { $set: { granted: { $max: [0, { $min: [wanted, spare] }] } } },
          { $set: { tokens: { $subtract: ['$tokens', '$granted'] } } },
        ],
        { upsert: true, returnDocument: 'after' },
      );
      // The server gives a 64-bit integer if the rate is a whole number of tokens per millisecond.
      return bucket ? { count: Number(bucket.granted), at: bucket.at } : NONE;
    },
    /** Returns tokens that were taken and not used. */
    giveBack: async (rail: string, unused: number): Promise<void> => {
      if (unused > 0) await rateLimits.updateOne({ _id: rail }, { $inc: { tokens: unused } });
    },
  };
}

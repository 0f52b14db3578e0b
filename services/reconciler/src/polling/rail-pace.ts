import { isDuplicateKey } from '@pesewa/messaging';
import type { Db } from 'mongodb';

/** The rate at which a rail may be asked, over all replicas together (ADR 26). */
export interface RailPace {
  /**
   * Takes as many turns to ask a rail as there are, at most `wanted`; gives how many, 0 if none is left.
   *
   * @param limits `perSecond` is the rate over all replicas; up to half a second's worth accumulates while nobody asks
   */
  readonly take: (
    rail: string,
    limits: { readonly wanted: number; readonly perSecond: number },
  ) => Promise<number>;
  /** Returns turns that were taken and not used. */
  readonly giveBack: (rail: string, unused: number) => Promise<void>;
}

/** The remaining turns of a rail. */
interface PaceDocument {
  readonly _id: string;
  readonly turns: number;
  readonly at: Date;
  /** How many the latest caller got, by which it reads its own result. */
  readonly granted: number | bigint;
}

/**
 * Longer than the pause between two searches of a replica, or part of the rate would be lost; and short enough to
 * remain a rate limit.
 */
const SAVED_UP_S = 0.5;

/**
 * Opens the rate limits of all rails: a token bucket per rail in the database, by the database's clock.
 *
 * A new bucket is full, like one that was not used for long. Turns lost with a dead process make the others no faster.
 * A caller without turns tries again after its usual pause: turns come back evenly, so a queue would gain nothing.
 */
export function openRailPace(db: Pick<Db, 'collection'>): RailPace {
  const paces = db.collection<PaceDocument>('paces');
  const taken = async (rail: string, wanted: number, perSecond: number): Promise<number> => {
    const most = Math.max(1, perSecond * SAVED_UP_S);
    // A clock that was set back adds no turns and removes none.
    const elapsedMs = { $max: [0, { $subtract: ['$$NOW', '$at'] }] };
    const refilled = { $add: ['$turns', { $multiply: [elapsedMs, perSecond / 1_000] }] };
    const pace = await paces.findOneAndUpdate(
      { _id: rail },
      [
        { $set: { turns: { $min: [most, { $ifNull: [refilled, most] }] }, at: '$$NOW' } },
        { $set: { granted: { $min: [wanted, { $floor: '$turns' }] } } },
        { $set: { turns: { $subtract: ['$turns', '$granted'] } } },
      ],
      { upsert: true, returnDocument: 'after' },
    );
    // The server gives a 64-bit integer if the rate is a whole number of turns per millisecond.
    return Number(pace?.granted ?? 0);
  };
  return {
    take: async (rail, { wanted, perSecond }) => {
      if (wanted <= 0 || perSecond <= 0) return 0;
      try {
        return await taken(rail, wanted, perSecond);
      } catch (error) {
        // Two replicas inserted a new bucket at once; now it exists.
        if (!isDuplicateKey(error)) throw error;
        return taken(rail, wanted, perSecond);
      }
    },
    giveBack: async (rail, unused) => {
      if (unused > 0) await paces.updateOne({ _id: rail }, { $inc: { turns: unused } });
    },
  };
}

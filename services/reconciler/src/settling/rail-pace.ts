import { isDuplicateKey } from '@pesewa/messaging';
import type { Db } from 'mongodb';

/** How often a rail may be asked, over all replicas together (ADR 26). */
export interface RailPace {
  /**
   * Takes so many turns to ask a rail as there are, at most those wanted, and gives how many: 0 where none is left.
   *
   * @param limits `perSecond` is the rate over all replicas; up to half a second's worth is saved up while nobody asks
   */
  readonly take: (
    rail: string,
    limits: { readonly wanted: number; readonly perSecond: number },
  ) => Promise<number>;
  /** Gives back turns that were taken and not used. */
  readonly giveBack: (rail: string, unused: number) => Promise<void>;
}

/** The turns of a rail that are left. */
interface PaceDocument {
  readonly _id: string;
  readonly turns: number;
  readonly at: Date;
  /** How many the newest taker got: what tells it so. */
  readonly granted: number | bigint;
}

/** Longer than the pause between two looks of a replica, or part of the rate would be lost; short, or it is no rate. */
const SAVED_UP_S = 0.5;

/**
 * Opens the pace of all rails: a token bucket per rail in the database, by the database's clock.
 *
 * A new bucket is full, like one that nobody has taken from for long. Whoever dies with its turns unused makes the
 * others no faster. Who gets none looks again after its usual pause: turns come back evenly, so waiting in a line
 * would gain nothing.
 */
export function openRailPace(db: Pick<Db, 'collection'>): RailPace {
  const paces = db.collection<PaceDocument>('paces');
  const taken = async (rail: string, wanted: number, perSecond: number): Promise<number> => {
    const most = Math.max(1, perSecond * SAVED_UP_S);
    // A clock that was set back gives no turns and takes none.
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
    // The server counts in 64 bits where the rate is a whole number of turns per millisecond.
    return Number(pace?.granted ?? 0);
  };
  return {
    take: async (rail, { wanted, perSecond }) => {
      if (wanted <= 0 || perSecond <= 0) return 0;
      try {
        return await taken(rail, wanted, perSecond);
      } catch (error) {
        // Two replicas met over a new bucket: now it is there.
        if (!isDuplicateKey(error)) throw error;
        return taken(rail, wanted, perSecond);
      }
    },
    giveBack: async (rail, unused) => {
      if (unused > 0) await paces.updateOne({ _id: rail }, { $inc: { turns: unused } });
    },
  };
}

import type { Clock } from '@pesewa/kernel';
import type { Db } from 'mongodb';
import type { RailWallets } from '../wallets/looks.ts';

/** A rail, by its name, that did not answer when it was last asked for its wallets. */
interface SilentRail {
  readonly _id: string;
  /** When it was first asked without an answer. */
  readonly since: Date;
  /** Why the newest question got none. */
  readonly why: string;
}

/** Rails that give no answer; every comparison of wallets asks each rail, so none stays unnoticed because nothing is due. */
export type SilentRails = ReturnType<typeof openSilentRails>;

const READ_TIMEOUT_MS = 1_000;

/** Opens what is kept of silent rails. */
export function openSilentRails(db: Db, clock: Pick<Clock, 'nowMs'>) {
  const rails = db.collection<SilentRail>('silent_rails');
  return {
    list: () => rails.find({}, { maxTimeMS: READ_TIMEOUT_MS }).sort({ _id: 1 }).toArray(),
    /** The rail, with a note of whether it answered. */
    noting: (rail: RailWallets): RailWallets => ({
      ...rail,
      balances: async () => {
        const since = new Date(clock.nowMs());
        const answer = await rail.balances();
        const named = { _id: rail.name };
        if (answer.kind === 'unknown') {
          const { why } = answer;
          await rails.updateOne(named, { $setOnInsert: { since }, $set: { why } }, { upsert: true });
        } else await rails.deleteOne(named);
        return answer;
      },
    }),
  };
}

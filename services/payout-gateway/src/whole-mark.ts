import type { Db } from 'mongodb';

/** When a process last knew that the database has all published payouts, by the database's own clock. */
export interface WholeMark {
  readonly set: () => Promise<void>;
  /** Whether it was set within this time; in an older backup it was not. */
  readonly isYounger: (thanMs: number) => Promise<boolean>;
}

/** The {@link WholeMark} of a database. */
export function wholeMarkOf(db: Db): WholeMark {
  const marks = db.collection<{ readonly _id: string; readonly at: Date }>('marks');
  return {
    set: async () => {
      await marks.updateOne({ _id: 'whole' }, { $currentDate: { at: true } }, { upsert: true });
    },
    isYounger: async (thanMs) => {
      const isRecent = { $gte: ['$at', { $subtract: ['$$NOW', thanMs] }] };
      return (await marks.findOne({ _id: 'whole', $expr: isRecent })) !== null;
    },
  };
}

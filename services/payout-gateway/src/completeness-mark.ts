import type { Db } from 'mongodb';

/** When a process last knew that the database has all published payouts, by the database's own clock. */
export type CompletenessMark = ReturnType<typeof completenessMarkOf>;

/** The {@link CompletenessMark} of a database. */
export function completenessMarkOf(db: Db) {
  const marks = db.collection<{ readonly _id: string; readonly at: Date }>('marks');
  return {
    set: async (): Promise<void> => {
      await marks.updateOne({ _id: 'whole' }, { $currentDate: { at: true } }, { upsert: true });
    },
    /** Whether it was set within this time; in an older backup it was not. */
    isYounger: async (thanMs: number): Promise<boolean> => {
      const isRecent = { $gte: ['$at', { $subtract: ['$$NOW', thanMs] }] };
      return (await marks.findOne({ _id: 'whole', $expr: isRecent })) !== null;
    },
  };
}

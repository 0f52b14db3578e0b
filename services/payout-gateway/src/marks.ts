import type { Db } from 'mongodb';

/** What is known of a database beside its payouts; times are by the database's own clock. */
export type Marks = ReturnType<typeof marksOf>;

const CURRENT = 'current';

/** The {@link Marks} of a database. */
export function marksOf(db: Db) {
  const marks = db.collection<{ readonly _id: string; readonly at: Date }>('marks');
  const set = async (_id: string): Promise<void> => {
    await marks.updateOne({ _id }, { $currentDate: { at: true } }, { upsert: true });
  };
  return {
    /** Notes that the database is not an older one. */
    setCurrent: () => set(CURRENT),
    /** Whether that was noted within this time; in an older backup it was not. */
    isCurrentSince: async (withinMs: number): Promise<boolean> => {
      const isRecent = { $gte: ['$at', { $subtract: ['$$NOW', withinMs] }] };
      return (await marks.findOne({ _id: CURRENT, $expr: isRecent })) !== null;
    },
    /** Notes that a published payout has no record for good, by our reference. */
    leaveOut: set,
    /** Those of the references that were left out. */
    findLeftOut: async (references: readonly string[]): Promise<ReadonlySet<string>> => {
      const found = await marks.find({ _id: { $in: [...references] } }).toArray();
      return new Set(found.map(({ _id }) => _id));
    },
    /** A newly elected primary may not know yet what a majority has; it answers a write only once it does. */
    untilMajorityIsKnown: async (): Promise<void> => void (await marks.deleteOne({ _id: 'none' })),
  };
}

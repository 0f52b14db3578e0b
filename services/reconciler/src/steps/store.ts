import type { PaymentKind } from '@pesewa/contracts';
import type { AnyBulkWriteOperation, ClientSession, CountDocumentsOptions, Db } from 'mongodb';
import type { FollowedStep, Step } from './following.ts';

/** A followed step as MongoDB holds it. */
interface StepDocument extends FollowedStep {
  readonly _id: string;
}

/** How far payments have been checked. */
interface MarkDocument {
  readonly _id: string;
  readonly until: Date;
}

/** A step of a payment. */
type Named = Pick<FollowedStep, 'reference' | 'step'>;

/** The followed steps; a payment in order has none. */
export type StepStore = ReturnType<typeof openStepStore>;

/** The id of a step of a payment. */
export function stepId({ reference, step }: Named): string {
  return `${reference}/${step}`;
}

/** Opens the store. */
export function openStepStore(db: Db) {
  const steps = db.collection<StepDocument>('steps');
  const marks = db.collection<MarkDocument>('step_marks');
  return {
    /** The due ones, the oldest first. */
    due: (
      { steps: wanted, kind }: { readonly steps: readonly Step[]; readonly kind?: PaymentKind },
      before: Date,
      limit: number,
    ): Promise<readonly FollowedStep[]> => {
      const found = steps.find({
        step: { $in: [...wanted] },
        ...(kind && { kind }),
        dueAt: { $lte: before },
      });
      return found.sort({ dueAt: 1 }).limit(limit).toArray();
    },
    /** The existing ones among these, by {@link stepId}. */
    load: async (
      wanted: readonly Named[],
      session: ClientSession,
    ): Promise<ReadonlyMap<string, FollowedStep>> => {
      const found = await steps.find({ _id: { $in: wanted.map(stepId) } }, { session }).toArray();
      return new Map(found.map((step) => [step._id, step]));
    },
    /** How many of a step are due. */
    countDue: (step: Step, before: Date, options: CountDocumentsOptions): Promise<number> =>
      steps.countDocuments({ step, dueAt: { $lte: before } }, options),
    save: async (followed: readonly FollowedStep[], done: readonly Named[], session: ClientSession) => {
      const writes: AnyBulkWriteOperation<StepDocument>[] = [
        ...followed.map((replacement) => ({
          replaceOne: { filter: { _id: stepId(replacement) }, replacement, upsert: true },
        })),
        ...done.map((step) => ({ deleteOne: { filter: { _id: stepId(step) } } })),
      ];
      if (writes.length > 0) await steps.bulkWrite(writes, { session, ordered: false });
    },
    /** How far a kind of payment has been checked; undefined before the first check. */
    mark: async (name: string) => (await marks.findOne({ _id: name }))?.until,
    setMark: async (name: string, until: Date) => {
      await marks.updateOne({ _id: name }, { $max: { until } }, { upsert: true });
    },
    /** How many are followed of each step, and since when the oldest is. */
    standing: async (timeoutMs: number) => {
      const counted = steps.aggregate<{ _id: Step; count: number; since: Date }>(
        [{ $group: { _id: '$step', count: { $sum: 1 }, since: { $min: '$since' } } }],
        { maxTimeMS: timeoutMs },
      );
      return (await counted.toArray()).map(({ _id, ...standing }) => ({ step: _id, ...standing }));
    },
  };
}

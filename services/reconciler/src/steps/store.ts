import type { PaymentKind } from '@pesewa/contracts';
import type { AnyBulkWriteOperation, ClientSession, Db } from 'mongodb';
import type { FollowedStep, NamedStep, Step } from './following.ts';

/** A followed step as MongoDB holds it. */
interface StepDocument extends FollowedStep {
  readonly _id: string;
}

/** How far payments have been checked. */
interface MarkDocument {
  readonly _id: string;
  readonly until: Date;
  /** When an audit was asked for: all of them are checked again, from the beginning. */
  readonly askedAt: Date;
  /** When all had been. */
  readonly wholeAt?: Date;
}

/** The followed steps; a payment in order has none. */
export type StepStore = ReturnType<typeof openStepStore>;

/** The id of a step of a payment. */
export function stepId({ reference, step }: NamedStep): string {
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
      wanted: readonly NamedStep[],
      session: ClientSession,
    ): Promise<ReadonlyMap<string, FollowedStep>> => {
      const found = await steps.find({ _id: { $in: wanted.map(stepId) } }, { session }).toArray();
      return new Map(found.map((step) => [step._id, step]));
    },
    save: async (followed: readonly FollowedStep[], done: readonly NamedStep[], session: ClientSession) => {
      const writes: AnyBulkWriteOperation<StepDocument>[] = [
        ...followed.map((replacement) => ({
          replaceOne: { filter: { _id: stepId(replacement) }, replacement, upsert: true },
        })),
        ...done.map((step) => ({ deleteOne: { filter: { _id: stepId(step) } } })),
      ];
      if (writes.length > 0) await steps.bulkWrite(writes, { session, ordered: false });
    },
    /** How far a watch has checked payments. */
    mark: async (name: string, now: Date): Promise<MarkDocument> => {
      const first = { until: new Date(0), askedAt: now };
      const options = { upsert: true, returnDocument: 'after' } as const;
      const mark = await marks.findOneAndUpdate({ _id: name }, { $setOnInsert: first }, options);
      return mark ?? { _id: name, ...first };
    },
    /** Moves a mark on; one that an audit has set back meanwhile stays where it is. */
    setMark: async ({ _id, askedAt }: MarkDocument, until: Date, wholeAt?: Date) => {
      await marks.updateOne({ _id, askedAt }, { $max: { until }, ...(wholeAt && { $set: { wholeAt } }) });
    },
    /** Has watches begin again, but for those that still look at everything. */
    restart: async (names: readonly string[], askedAt: Date) => {
      const done = { _id: { $in: [...names] }, $expr: { $gt: ['$wholeAt', '$askedAt'] } };
      await marks.updateMany(done, { $set: { until: new Date(0), askedAt } });
    },
    marks: (names: readonly string[], maxTimeMS: number) =>
      marks.find({ _id: { $in: [...names] } }, { maxTimeMS }).toArray(),
    /** How many are followed of each step and kind of payment, and since when the oldest is. */
    followed: async (maxTimeMS: number) => {
      const of = { step: '$step', kind: '$kind' };
      const counted = steps.aggregate<{
        _id: Pick<FollowedStep, 'step' | 'kind'>;
        count: number;
        since: Date;
      }>([{ $group: { _id: of, count: { $sum: 1 }, since: { $min: '$since' } } }], { maxTimeMS });
      return (await counted.toArray()).map(({ _id, ...counts }) => ({ ..._id, ...counts }));
    },
  };
}

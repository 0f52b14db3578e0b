import type { AnyBulkWriteOperation, ClientSession, Db } from 'mongodb';
import type { FollowedStep, Step } from '../domain/steps.ts';

/** A followed step as MongoDB holds it. */
interface StepDocument extends Omit<FollowedStep, 'sinceMs' | 'dueAtMs'> {
  /** The payment and the step. */
  readonly _id: string;
  readonly since: Date;
  readonly dueAt: Date;
}

/** How far payments have been checked. */
interface MarkDocument {
  readonly _id: string;
  readonly until: Date;
}

/** The followed steps; a payment in order has none. */
export interface StepStore {
  /** The due ones, the oldest first. */
  readonly due: (steps: readonly Step[], before: Date, limit: number) => Promise<readonly FollowedStep[]>;
  /** The existing ones among these. */
  readonly load: (
    steps: readonly Pick<FollowedStep, 'reference' | 'step'>[],
    session: ClientSession,
  ) => Promise<ReadonlyMap<string, FollowedStep>>;
  readonly save: (
    followed: readonly FollowedStep[],
    done: readonly Pick<FollowedStep, 'reference' | 'step'>[],
    session: ClientSession,
  ) => Promise<void>;
  /** How far a kind of payment has been checked; undefined before the first check. */
  readonly mark: (name: string) => Promise<Date | undefined>;
  readonly setMark: (name: string, until: Date) => Promise<void>;
  /** How many are followed of each step, and since when the oldest is. */
  readonly standing: (
    timeoutMs: number,
  ) => Promise<readonly { readonly step: Step; readonly count: number; readonly since: Date }[]>;
}

/** The id of a step of a payment. */
export function stepId({ reference, step }: Pick<FollowedStep, 'reference' | 'step'>): string {
  return `${reference}/${step}`;
}

/** Opens the store. */
export function openStepStore(db: Db): StepStore {
  const steps = db.collection<StepDocument>('steps');
  const marks = db.collection<MarkDocument>('step_marks');
  return {
    due: async (wanted, before, limit) => {
      const found = steps.find({ step: { $in: [...wanted] }, dueAt: { $lte: before } });
      return (await found.sort({ dueAt: 1 }).limit(limit).toArray()).map(fromDocument);
    },
    load: async (wanted, session) => {
      const found = await steps.find({ _id: { $in: wanted.map(stepId) } }, { session }).toArray();
      return new Map(found.map((document) => [document._id, fromDocument(document)]));
    },
    save: async (followed, done, session) => {
      const writes: AnyBulkWriteOperation<StepDocument>[] = [
        ...followed.map(toReplacement),
        ...done.map((step) => ({ deleteOne: { filter: { _id: stepId(step) } } })),
      ];
      if (writes.length > 0) await steps.bulkWrite(writes, { session, ordered: false });
    },
    mark: async (name) => (await marks.findOne({ _id: name }))?.until,
    setMark: async (name, until) => {
      await marks.updateOne({ _id: name }, { $max: { until } }, { upsert: true });
    },
    standing: async (timeoutMs) => {
      const counted = steps.aggregate<{ _id: Step; count: number; since: Date }>(
        [{ $group: { _id: '$step', count: { $sum: 1 }, since: { $min: '$since' } } }],
        { maxTimeMS: timeoutMs },
      );
      return (await counted.toArray()).map(({ _id, ...standing }) => ({ step: _id, ...standing }));
    },
  };
}

function toReplacement(followed: FollowedStep): AnyBulkWriteOperation<StepDocument> {
  const { sinceMs, dueAtMs, ...rest } = followed;
  const replacement = { ...rest, since: new Date(sinceMs), dueAt: new Date(dueAtMs) };
  return { replaceOne: { filter: { _id: stepId(followed) }, replacement, upsert: true } };
}

function fromDocument({ _id, since, dueAt, ...rest }: StepDocument): FollowedStep {
  return { ...rest, sinceMs: since.getTime(), dueAtMs: dueAt.getTime() };
}

import type { ClientSession, Db } from 'mongodb';
import type { Tracked } from './domain/tracked.ts';
import { fromDocument, type KeepTimes, type PollDocument, toDocument } from './poll-document.ts';

/** The working set of this service's database. */
export type WorkingStore = ReturnType<typeof openWorkingStore>;

/** Opens the working set. */
export function openWorkingStore(db: Db, keep: KeepTimes) {
  const collection = db.collection<PollDocument>('polls');
  return {
    collection,
    load: async (
      references: readonly string[],
      session?: ClientSession,
    ): Promise<ReadonlyMap<string, Tracked>> => {
      const ids = [...new Set(references)];
      const options = { batchSize: ids.length + 1, ...(session && { session }) };
      const found = await collection.find({ _id: { $in: ids } }, options).toArray();
      return new Map(found.map((document) => [document._id, fromDocument(document)]));
    },
    /**
     * Writes payments that were read in the same transaction, as far as the database finds them changed; a conflict
     * aborts it.
     */
    save: async (payments: readonly Tracked[], session: ClientSession): Promise<void> => {
      const writes = payments.map((payment) => {
        const document = toDocument(payment, keep);
        // A pipeline, so that the oplog holds what differs alone.
        const update = [{ $replaceWith: { $literal: document } }];
        return { updateOne: { filter: { _id: document._id }, update, upsert: true } };
      });
      if (writes.length > 0) await collection.bulkWrite(writes, { session, ordered: false });
    },
    /**
     * Makes an open payment due at this time if it waits for a later poll; nothing changes while it is being polled.
     * Gives whether it did.
     */
    bringForward: async (reference: string, at: Date): Promise<boolean> => {
      const waiting = { watch: { $exists: true }, claim: { $exists: false }, dueAt: { $gt: at } };
      const { modifiedCount } = await collection.updateOne(
        { _id: reference, status: 'open', ...waiting },
        { $set: { dueAt: at, scheduledAt: at } },
      );
      return modifiedCount > 0;
    },
    /** Makes every other transaction that writes the payment at the same time conflict with this one. */
    guard: async (reference: string, session: ClientSession): Promise<void> => {
      await collection.updateOne({ _id: reference }, { $inc: { guards: 1 } }, { session });
    },
  };
}

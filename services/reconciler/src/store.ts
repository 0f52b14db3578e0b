import type { AnyBulkWriteOperation, ClientSession, Collection, Db } from 'mongodb';
import type { Tracked } from './domain/tracked.ts';
import { changeOf, fromDocument, type KeepTimes, type PollDocument, toDocument } from './poll-document.ts';

/** The working set of this service's database. */
export type WorkingStore = ReturnType<typeof openWorkingStore>;

/** Opens the working set. */
export function openWorkingStore(db: Db, keep: KeepTimes) {
  const collection = db.collection<PollDocument>('polls');
  const loaded = new WeakMap<ClientSession, Map<string, PollDocument>>();
  return {
    collection,
    load: async (
      references: readonly string[],
      session?: ClientSession,
    ): Promise<ReadonlyMap<string, Tracked>> => {
      const ids = [...new Set(references)];
      const options = { batchSize: ids.length + 1, ...(session && { session }) };
      const found = await collection.find({ _id: { $in: ids } }, options).toArray();
      if (session) {
        const known = loaded.get(session) ?? new Map<string, PollDocument>();
        loaded.set(session, known);
        // A transaction that runs again must not go by what its first run has written.
        for (const id of ids) known.delete(id);
        for (const document of found) known.set(document._id, document);
      }
      return new Map(found.map((document) => [document._id, fromDocument(document)]));
    },
    /** Writes payments that were read in the same transaction, as far as they have changed; a conflict aborts it. */
    save: async (payments: readonly Tracked[], session: ClientSession): Promise<void> => {
      const known = loaded.get(session) ?? new Map<string, PollDocument>();
      const writes = payments.flatMap((payment): readonly AnyBulkWriteOperation<PollDocument>[] => {
        const document = toDocument(payment, keep);
        const before = known.get(document._id);
        known.set(document._id, document);
        if (!before) {
          const { _id, ...replacement } = document;
          return [{ replaceOne: { filter: { _id }, replacement, upsert: true } }];
        }
        const update = changeOf(before, document);
        return update ? [{ updateOne: { filter: { _id: document._id }, update } }] : [];
      });
      if (writes.length > 0) await collection.bulkWrite(writes, { session, ordered: false });
    },
    /**
     * Makes an open payment due at this time if it waits for a later poll; nothing changes while it is being polled.
     * Gives whether it did.
     */
    bringForward: (reference: string, at: Date) => bringForward(collection, reference, at),
    /** Makes every other transaction that writes the payment at the same time conflict with this one. */
    guard: async (reference: string, session: ClientSession): Promise<void> => {
      await collection.updateOne({ _id: reference }, { $inc: { guards: 1 } }, { session });
    },
  };
}

async function bringForward(
  collection: Collection<PollDocument>,
  reference: string,
  at: Date,
): Promise<boolean> {
  const waiting = { watch: { $exists: true }, claim: { $exists: false }, dueAt: { $gt: at } };
  const { modifiedCount } = await collection.updateOne(
    { _id: reference, status: 'open', ...waiting },
    { $set: { dueAt: at, scheduledAt: at } },
  );
  return modifiedCount > 0;
}

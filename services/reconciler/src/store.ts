import type { PaymentKind } from '@pesewa/contracts';
import type { ClientSession, Db } from 'mongodb';
import { OPEN_KEY } from './database-schema.ts';
import type { OpenState, Tracked } from './domain/tracked.ts';
import { fromDocument, type KeepTimes, type PollDocument, toDocument } from './poll-document.ts';

/** The working set of this service's database. */
export type WorkingStore = ReturnType<typeof openWorkingStore>;

/** How long a metric may wait for its count. */
const COUNT_TIMEOUT_MS = 1_000;
/** Every state, as one range of keys. */
const ANY = { $gt: '' as OpenState };

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
    /** When the longest due payment of a rail became due, from the index alone; undefined if none waits. */
    oldestDue: async (rail: string): Promise<Date | undefined> => {
      const oldest = await collection.findOne(
        { watch: rail },
        { projection: { _id: 0, dueAt: 1 }, sort: { dueAt: 1 }, maxTimeMS: COUNT_TIMEOUT_MS },
      );
      return oldest?.dueAt;
    },
    countOpen: async () => {
      const limits = { hint: OPEN_KEY, maxTimeMS: COUNT_TIMEOUT_MS };
      const count = (kind: PaymentKind) =>
        collection.countDocuments({ 'terms.kind': kind, openState: ANY }, limits);
      const [payout, open] = await Promise.all([count('payout'), count('collection')]);
      return { payout, collection: open };
    },
  };
}

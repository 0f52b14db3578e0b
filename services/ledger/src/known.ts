import { pageId } from '@pesewa/contracts';
import type { ClientSession, Collection, Db } from 'mongodb';
import { COMMANDS, type OrderDocument } from './commands.ts';
import { collectionNames, type PageDocument } from './documents.ts';
import type { WrittenPage } from './domain/own-events.ts';

/** How the database does not have a published page. */
export type Lack =
  /** It has no such page, and not all of what the page holds. */
  | 'absent'
  /** It has another one under the same number, and not all of what the page holds. */
  | 'another';

/** What the database has of what the ledger published; as a majority knows it. */
export interface Known {
  /**
   * Of pages, those that the database has neither by their hash nor by all their postings: a page that had to come out
   * otherwise when it was written again has the postings alone.
   */
  readonly lacking: (pages: readonly WrittenPage[]) => Promise<ReadonlyMap<WrittenPage, Lack>>;
  /** Of postings, by their names, those that are neither booked nor refused, and were not left out. */
  readonly unanswered: (names: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Of orders, by their ids, those about which nothing is decided, and that were not left out. */
  readonly undecided: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Notes what is missing for good, by people's word: no later look takes it for news. */
  readonly leaveOut: (ids: readonly string[], session?: ClientSession) => Promise<void>;
}

interface Named {
  readonly _id: string;
}

interface LeftOut extends Named {
  /** When people let it be left out the last time. */
  readonly at: Date;
}

/** Builds {@link Known}. */
export function createKnown(db: Db): Known {
  const entries = db.collection<Named>(collectionNames.entries);
  const refusals = db.collection<Named>(collectionNames.refusals);
  const refusedOrders = db.collection<Named>(collectionNames.refusedOrders);
  const orders = db.collection<OrderDocument>(COMMANDS);
  const leftOut = db.collection<LeftOut>('left_out');
  const pages = db.collection<PageDocument>(collectionNames.pages);
  async function unanswered(names: readonly string[]): Promise<ReadonlySet<string>> {
    const [booked, holds, refused, left] = await Promise.all([
      idsIn(entries, names.flatMap(entryIdsOf)),
      idsIn(refusals, names.filter(isHold).map(referenceOf)),
      idsIn(refusedOrders, names),
      idsIn(leftOut, names),
    ]);
    const isAnswered = (name: string) =>
      entryIdsOf(name).some((id) => booked.has(id)) ||
      refused.has(name) ||
      left.has(name) ||
      (isHold(name) && holds.has(referenceOf(name)));
    return new Set(names.filter((name) => !isAnswered(name)));
  }
  async function hashesOf(told: readonly WrittenPage[]): Promise<ReadonlyMap<string, string>> {
    if (told.length === 0) return new Map();
    const projection = { hash: 1 } as const;
    const found = await pages.find({ _id: { $in: told.map(idOf) } }, { ...reading, projection }).toArray();
    return new Map(found.map(({ _id, hash }) => [_id, Buffer.from(hash.value()).toString('hex')]));
  }
  return {
    unanswered,
    lacking: async (told) => {
      const hashes = await hashesOf(told);
      const others = told.filter((page) => hashes.get(idOf(page)) !== page.hash);
      const missing = await unanswered(others.flatMap(({ postings }) => postings));
      return new Map(
        others
          .filter(({ postings }) => postings.some((name) => missing.has(name)))
          .map((page) => [page, hashes.has(idOf(page)) ? 'another' : 'absent']),
      );
    },
    undecided: async (ids) => {
      if (ids.length === 0) return new Set();
      const decided = { _id: { $in: [...ids] }, status: { $ne: 'proposed' as const } };
      const found = await orders.find(decided, reading).toArray();
      const known = new Set([...found.map(({ _id }) => _id), ...(await idsIn(leftOut, ids))]);
      return new Set(ids.filter((id) => !known.has(id)));
    },
    leaveOut: async (ids, session) => {
      const notes = ids.map((_id) => ({
        updateOne: { filter: { _id }, update: { $currentDate: { at: true as const } }, upsert: true },
      }));
      if (notes.length > 0) await leftOut.bulkWrite(notes, session && { session });
    },
  };
}

const reading = { readConcern: { level: 'majority' }, projection: { _id: 1 } } as const;

async function idsIn<Schema extends Named>(
  collection: Collection<Schema>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const filter: object = { _id: { $in: [...ids] } };
  const found = ids.length > 0 ? await collection.find(filter, reading).toArray() : [];
  return new Set(found.map(({ _id }) => _id));
}

const idOf = ({ chain, number }: WrittenPage): string => pageId(chain, number);

const isHold = (name: string): boolean => name.endsWith('/hold');
const referenceOf = (name: string): string => name.slice(0, name.lastIndexOf('/'));

/** The entry that a posting leaves; a collection that the fee takes whole leaves another. */
function entryIdsOf(name: string): readonly string[] {
  return name.endsWith('/collect') ? [name, `${referenceOf(name)}/fee`] : [name];
}

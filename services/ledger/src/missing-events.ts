import { pageId } from '@pesewa/contracts';
import type { ClientSession, Collection, Db } from 'mongodb';
import { COMMANDS, type OrderDocument } from './commands.ts';
import { collectionNames, type PageDocument } from './documents.ts';
import type { PublishedPage } from './domain/own-events.ts';

/** In which way the database lacks a published page. */
export type MissingAs =
  /** It has no such page, nor all of its postings. */
  | 'absent'
  /** It has another page with the same number, and not all of the published page's postings. */
  | 'another';

/** Which of the published events the database has, read with majority. */
export interface MissingEvents {
  /**
   * The pages that the database has neither by their hash nor by all their postings. A page that came out differently
   * when it was written again is only found by its postings.
   */
  readonly lacking: (pages: readonly PublishedPage[]) => Promise<ReadonlyMap<PublishedPage, MissingAs>>;
  /** Returns those of the named postings that are neither booked nor refused nor left out. */
  readonly unanswered: (names: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Returns those of the orders, by id, that are neither decided nor left out. */
  readonly undecided: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Records, by people's decision, that these are missing for good: later checks skip them. */
  readonly leaveOut: (ids: readonly string[], session?: ClientSession) => Promise<void>;
}

interface Named {
  readonly _id: string;
}

interface LeftOut extends Named {
  /** When people last allowed it to be left out. */
  readonly at: Date;
}

const LEFT_OUT = 'left_out';

/** Builds {@link MissingEvents}. */
export function createMissingEvents(db: Db): MissingEvents {
  const orders = db.collection<OrderDocument>(COMMANDS);
  const leftOut = db.collection<LeftOut>(LEFT_OUT);
  const pages = db.collection<PageDocument>(collectionNames.pages);
  async function unanswered(names: readonly string[]): Promise<ReadonlySet<string>> {
    const answered = await Promise.all(
      [collectionNames.postings, collectionNames.refusals, LEFT_OUT].map((collection) =>
        idsIn(db.collection<Named>(collection), names),
      ),
    );
    return new Set(names.filter((name) => !answered.some((ids) => ids.has(name))));
  }
  async function hashesOf(published: readonly PublishedPage[]): Promise<ReadonlyMap<string, string>> {
    if (published.length === 0) return new Map();
    const projection = { hash: 1 } as const;
    const found = await pages
      .find({ _id: { $in: published.map(idOf) } }, { ...reading, projection })
      .toArray();
    return new Map(found.map(({ _id, hash }) => [_id, Buffer.from(hash.value()).toString('hex')]));
  }
  return {
    unanswered,
    lacking: async (published) => {
      const hashes = await hashesOf(published);
      const others = published.filter((page) => hashes.get(idOf(page)) !== page.hash);
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

const idOf = ({ chain, number }: PublishedPage): string => pageId(chain, number);

import { type ChainedLine, GENESIS, pageHash, pageId } from '@pesewa/contracts';
import { createWriter, isDuplicateKey } from '@pesewa/messaging';
import { Binary, type ClientSession, type Db, MongoError } from 'mongodb';
import {
  type BucketDocument,
  bucketId,
  collectionNames,
  type PageDocument,
  type PostingDocument,
} from './documents.ts';
import type { Turnover } from './domain/accounts.ts';

/** The newest page of a chain, and the chain's totals of the shared accounts that were needed so far. */
export interface Head {
  readonly chain: string;
  readonly number: bigint;
  readonly hash: Uint8Array;
  readonly atMs: number;
  readonly totals: Map<string, Turnover>;
}

/**
 * The chains of pages (ADR 16). Each partition has one writer, which caches its newest page and drops it after any
 * failure.
 */
export interface Pages {
  /**
   * Takes the head of a chain out of the cache, or reads it. The caller puts the new one back after the commit: so a
   * transaction that fails, for whatever reason, leaves no wrong head in the cache.
   */
  readonly take: (chain: string, session: ClientSession) => Promise<Head>;
  /** The newest page of a chain, as the session sees it. */
  readonly newest: (chain: string, session?: ClientSession) => Promise<Head>;
  /**
   * Writes the page that follows the head, and gives its place; if the head is no longer the newest page, the
   * transaction reruns.
   */
  readonly append: (
    head: Head,
    postings: readonly PostingDocument[],
    deltas: ReadonlyMap<string, Turnover>,
    transaction: { readonly session: ClientSession; readonly afterCommit: (action: () => void) => void },
  ) => Promise<AppendedPage>;
}

/** The place of a page, its hash, and the ids of its postings. */
export interface AppendedPage extends Pick<PageDocument, 'chain' | 'number' | 'postings'> {
  readonly hash: Uint8Array;
}

/** Builds {@link Pages}. */
export function createPages(db: Db): Pages {
  const pages = db.collection<PageDocument>(collectionNames.pages);
  const buckets = db.collection<BucketDocument>(collectionNames.buckets);
  const writer = createWriter(db, collectionNames.pages);
  const heads = new Map<string, Head>();

  async function readHead(chain: string, session?: ClientSession): Promise<Head> {
    const ofChain = { _id: { $gte: pageId(chain, 0n), $lt: `${chain}$` } };
    const within = session ? { session } : { readConcern: { level: 'majority' as const } };
    const projection = { number: 1, hash: 1, at: 1 };
    const newest = await pages.findOne(ofChain, { ...within, projection, sort: { _id: -1 } });
    if (!newest) return { chain, number: 0n, hash: GENESIS, atMs: 0, totals: new Map() };
    const { number, hash, at } = newest;
    return { chain, number, hash: hash.value(), atMs: at.getTime(), totals: new Map() };
  }

  /** Reads the chain's totals of accounts that were not needed since its head was read. */
  async function completeTotals(
    { chain, totals }: Head,
    accounts: readonly string[],
    session: ClientSession,
  ) {
    const missing = accounts.filter((account) => !totals.has(account));
    if (missing.length === 0) return;
    for (const account of missing) totals.set(account, { debits: 0n, credits: 0n });
    const ids = missing.map((account) => bucketId(account, chain));
    for (const { account, debits, credits } of await buckets
      .find({ _id: { $in: ids } }, { session })
      .toArray()) {
      totals.set(account, { debits, credits });
    }
  }

  return {
    newest: readHead,
    take: async (chain, session) => {
      const head = heads.get(chain);
      heads.delete(chain);
      return head ?? readHead(chain, session);
    },
    append: async (head, postings, deltas, { session, afterCommit }) => {
      const [first] = postings;
      if (!first) throw new TypeError('a page has postings');
      const { chain, hash: previous, totals } = head;
      const { at } = first;
      const number = head.number + 1n;
      await completeTotals(head, [...deltas.keys()], session);
      const accounts = [...deltas].map(([account, delta]) => toLine(account, delta, totals));
      const hash = pageHash({ chain, number, previous }, postings, accounts);
      const page: PageDocument = {
        _id: pageId(chain, number),
        chain,
        number,
        at,
        previous: new Binary(previous),
        hash: new Binary(hash),
        postings: postings.map(({ _id }) => _id),
        accounts,
      };
      await writer.insert([page], session).catch(rerunOnStaleHead);
      afterCommit(() => void heads.set(chain, { chain, number, hash, atMs: at.getTime(), totals }));
      return { chain, number, hash, postings: page.postings };
    },
  };
}

/** Adds the batch's own movement to the totals of the head, which is discarded afterwards. */
function toLine(account: string, { debits, credits }: Turnover, totals: Map<string, Turnover>): ChainedLine {
  const before = totals.get(account);
  const debitsAfter = (before?.debits ?? 0n) + debits;
  const creditsAfter = (before?.credits ?? 0n) + credits;
  totals.set(account, { debits: debitsAfter, credits: creditsAfter });
  return { account, debits, credits, debitsAfter, creditsAfter };
}

/** The number is taken: another process has written since our head was the newest. A rerun reads the head anew. */
function rerunOnStaleHead(error: unknown): never {
  if (isDuplicateKey(error) && error instanceof MongoError) error.addErrorLabel('TransientTransactionError');
  throw error;
}

import type { Invariant } from '@pesewa/audit';
import { GENESIS, pageHash, pageId } from '@pesewa/contracts';
import { Binary } from 'mongodb';
import type { AuditedLedger } from './audited.fixture.ts';
import { bucketId, type PageDocument, type PostingDocument } from './documents.ts';
import { movedOnWallet } from './domain/accounts.ts';
import type { Entry, Posting } from './domain/books.ts';

/**
 * A violation: the change that is made to correct books, the rule that must be reported, its subject, and the rule that
 * is reported first if that is another (a changed posting breaks its page's hash before its own rule).
 */
export type InjectedFault = readonly [
  what: string,
  invariant: Invariant,
  subject: string,
  inject: (books: AuditedLedger) => Promise<unknown>,
  first?: string,
];

/** The wallet of all changes. */
export const wallet = 'demo:KES';
/** The chain of the payouts. */
export const payoutsChain = 'payouts/0';
/** Bypasses the validators of the database. */
export const unvalidated = { bypassDocumentValidation: true } as const;

const ofLedger = (name: string) => (books: AuditedLedger) => books.ledger.collection<{ _id: string }>(name);

/** The ledger's postings. */
export const postings = ofLedger('postings');
/** The ledger's pages. */
export const pages = ofLedger('pages');
/** The ledger's wallets. */
export const wallets = ofLedger('wallets');
/** The ledger's shares of shared accounts. */
export const buckets = ofLedger('accounts');
/** The operators' orders. */
export const orders = ofLedger('commands');
/** The records of payouts. */
export const payouts = (books: AuditedLedger) => books.payouts.collection('payouts');
/** The records of collections. */
export const collections = (books: AuditedLedger) => books.collections.collection('collections');

/** Sets fields of a posting. */
export const changePosting = (books: AuditedLedger, _id: string, change: object) =>
  postings(books).updateOne({ _id }, { $set: change }, unvalidated);

/** Sets fields of an entry, given as `<reference>/<kind>`. */
export function changeEntry(books: AuditedLedger, id: string, change: object) {
  const [reference, kind] = id.split('/');
  const fields = Object.entries(change).map(([field, value]) => [`entries.$.${field}`, value] as const);
  const filter: object = { reference, 'entries.kind': kind };
  return postings(books).updateOne(filter, { $set: Object.fromEntries(fields) }, unvalidated);
}

/** Sets fields of a page. */
export const changePage = (books: AuditedLedger, _id: string, change: object) =>
  pages(books).updateOne({ _id }, { $set: change }, unvalidated);

/** An entry to post; its posting is that of its reference and of `of`, or else of its own kind, unless given. */
export type Posted = Entry & {
  readonly reference: string;
  readonly of?: Posting['kind'];
  readonly id?: string;
  readonly causationId?: string;
};

/** Posts entries that the wallet can cover, one after the other on one page, by the ledger's own store. */
export async function postNext(books: AuditedLedger, ...posted: readonly Posted[]) {
  await postAt(books, undefined, ...posted);
}

/** The same at a given time. */
export async function postAt(books: AuditedLedger, atMs: number | undefined, ...posted: readonly Posted[]) {
  const stored = await wallets(books).findOne<{ available: bigint; held: bigint; sequence: bigint }>({
    _id: wallet,
  });
  if (!stored) throw new Error('the wallet is gone');
  let { available, held, sequence } = stored;
  const kindOf = ({ of, kind }: Posted) => of ?? (kind as Posting['kind']);
  const byPosting = Map.groupBy(posted, (one) => one.id ?? `${one.reference}/${kindOf(one)}`);
  const numbered = [...byPosting].flatMap(([id, entries]): readonly Posting[] => {
    const [first] = entries;
    if (!first) return [];
    const { reference, causationId = 'ev-injected' } = first;
    const before = sequence;
    for (const entry of entries) {
      const moved = movedOnWallet(wallet, entry);
      available += moved.available;
      held += moved.held;
      if (moved.available !== 0n || moved.held !== 0n) sequence += 1n;
    }
    const after = { wallet, walletSequence: sequence, availableAfter: available, heldAfter: held };
    return [
      {
        id,
        kind: kindOf(first),
        reference,
        causationId,
        currency: 'KES',
        entries: entries.map(({ kind, debit, credit, amount }) => ({ kind, debit, credit, amount })),
        ...(sequence > before && after),
      },
    ];
  });
  await books.post({ chain: payoutsChain, ...(atMs !== undefined && { atMs }) }, ...numbered);
}

/** Adds a first page to a chain that lists a posting of another page, and its movements to the chain's buckets. */
export async function pageAgain(books: AuditedLedger, id: string, chain: string) {
  const posting = await books.ledger.collection<PostingDocument>('postings').findOne({ _id: id });
  const entry = posting?.entries[0];
  if (!entry) throw new Error('the posting is gone');
  const place = { chain, number: 1n, previous: GENESIS };
  const lines = [
    { account: entry.debit, debits: entry.amount, credits: 0n },
    { account: entry.credit, debits: 0n, credits: entry.amount },
  ];
  const accounts = lines.map((line) => ({ ...line, debitsAfter: line.debits, creditsAfter: line.credits }));
  const hash = new Binary(pageHash(place, [posting], accounts));
  const page = { _id: pageId(chain, 1n), ...place, previous: new Binary(GENESIS), hash, at: posting.at };
  await books.ledger.collection<PageDocument>('pages').insertOne({ ...page, postings: [id], accounts });
  for (const line of lines) {
    await books.ledger
      .collection<{ _id: string }>('accounts')
      .insertOne({ _id: bucketId(line.account, chain), ...line });
  }
}

import type { Invariant } from '@pesewa/audit';
import { GENESIS, pageHash, pageId } from '@pesewa/contracts';
import { Binary } from 'mongodb';
import type { AuditedLedger } from './audited.fixture.ts';
import { bucketId, type EntryDocument, type PageDocument } from './documents.ts';
import type { Entry } from './domain/books.ts';
import { available, held } from './domain/posting.fixture.ts';

/**
 * A violation: the change that is made to correct books, the rule that must be reported, its subject, and the rule that
 * is reported first if that is another (a changed entry breaks its page's hash before its own rule).
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

/** The ledger's entries. */
export const entries = ofLedger('entries');
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

/** Sets fields of an entry. */
export const changeEntry = (books: AuditedLedger, _id: string, change: object) =>
  entries(books).updateOne({ _id }, { $set: change }, unvalidated);

/** Sets fields of a page. */
export const changePage = (books: AuditedLedger, _id: string, change: object) =>
  pages(books).updateOne({ _id }, { $set: change }, unvalidated);

/** An entry to post; its id is that of its reference and kind unless given. */
export type Posted = Pick<Entry, 'kind' | 'reference' | 'amount' | 'debit' | 'credit'> & {
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
  let state = { sequence: stored.sequence, available: stored.available, held: stored.held };
  const numbered = posted.map((entry): Entry => {
    const change = (account: string) =>
      (entry.credit === account ? entry.amount : 0n) - (entry.debit === account ? entry.amount : 0n);
    const isTouched = [entry.debit, entry.credit].some((account) => account.startsWith('wallet:'));
    if (isTouched) {
      state = {
        sequence: state.sequence + 1n,
        available: state.available + change(available),
        held: state.held + change(held),
      };
    }
    const id = `${entry.reference}/${entry.kind}`;
    return {
      id,
      causationId: 'ev-injected',
      currency: 'KES',
      ...entry,
      ...(isTouched && { touched: { wallet, ...state } }),
    };
  });
  await books.post({ chain: payoutsChain, ...(atMs !== undefined && { atMs }) }, ...numbered);
}

/** Adds a first page to a chain that lists entries of another page, and its movements to the chain's buckets. */
export async function pageAgain(books: AuditedLedger, id: string, chain: string) {
  const entry = await books.ledger.collection<EntryDocument>('entries').findOne({ _id: id });
  if (!entry) throw new Error('the entry is gone');
  const place = { chain, number: 1n, previous: GENESIS };
  const lines = [
    { account: entry.debit, debits: entry.amount, credits: 0n },
    { account: entry.credit, debits: 0n, credits: entry.amount },
  ];
  const accounts = lines.map((line) => ({ ...line, debitsAfter: line.debits, creditsAfter: line.credits }));
  const hash = new Binary(pageHash(place, [entry], accounts));
  const page = { _id: pageId(chain, 1n), ...place, previous: new Binary(GENESIS), hash, at: entry.at };
  await books.ledger.collection<PageDocument>('pages').insertOne({ ...page, entries: [id], accounts });
  for (const line of lines) {
    await books.ledger
      .collection<{ _id: string }>('accounts')
      .insertOne({ _id: bucketId(line.account, chain), ...line });
  }
}

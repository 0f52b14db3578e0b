import type { ClientSession, Db } from 'mongodb';
import { collectionNames, type PostingDocument, type WalletDocument } from './documents.ts';
import { movedOnWallet } from './domain/accounts.ts';
import {
  type Period,
  type Statement,
  type StatementPage,
  type Sums,
  statedEntriesOf,
  type WalletPlace,
} from './statement.ts';

const nothing: Sums = { available: 0n, held: 0n };

/** Builds the reader of wallets' statements; every posting of a wallet has the balances after it. */
export function createWalletStatements(db: Db) {
  const wallets = db.collection<WalletDocument>(collectionNames.wallets);
  const postings = db.collection<PostingDocument>(collectionNames.postings);

  async function balancesBefore(wallet: string, at: Date, session: ClientSession): Promise<Sums> {
    const last = await postings.findOne(
      { wallet, at: { $lt: at } },
      { session, sort: { at: -1, walletSequence: -1 } },
    );
    return last ? after(last) : nothing;
  }

  return async (
    wallet: string,
    { from, to }: Period,
    page: StatementPage<WalletPlace>,
    session: ClientSession,
  ): Promise<Statement<WalletPlace> | undefined> => {
    if (!(await wallets.findOne({ _id: wallet }, { session }))) return undefined;
    const opening = await balancesBefore(wallet, from, session);
    const closing = await balancesBefore(wallet, to, session);
    // Time never decreases along a wallet, so a later place in its sequence is never earlier in time.
    const start = page.after ? new Date(page.after.atMs) : from;
    const sequence = page.after?.sequence ?? 0n;
    // A posting that the place is within has a later number: that of its last entry.
    const found = await postings
      .find({ wallet, at: { $gte: start, $lt: to }, walletSequence: { $gt: sequence } }, { session })
      .sort({ at: 1, walletSequence: 1 })
      .limit(page.limit + 1)
      .toArray();
    const entries = found
      .flatMap(statedEntriesOf)
      .filter(({ walletSequence = 0n }) => walletSequence > sequence);
    const shown = entries.slice(0, page.limit);
    const last = entries.length > page.limit ? shown.at(-1) : undefined;
    return {
      opening,
      closing,
      items: shown.map((entry) => ({ entry, amount: movedOnWallet(wallet, entry), after: after(entry) })),
      next: last && { atMs: last.at.getTime(), sequence: last.walletSequence ?? 0n },
    };
  };
}

function after({
  availableAfter = 0n,
  heldAfter = 0n,
}: Pick<PostingDocument, 'availableAfter' | 'heldAfter'>): Sums {
  return { available: availableAfter, held: heldAfter };
}

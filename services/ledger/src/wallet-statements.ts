import type { ClientSession, Db } from 'mongodb';
import { collectionNames, type EntryDocument, type WalletDocument } from './documents.ts';
import { accounts } from './domain/accounts.ts';
import type { Period, Statement, StatementPage, Sums, WalletPlace } from './statement.ts';

const nothing: Sums = { available: 0n, held: 0n };

/** Builds the reader of wallets' statements; every entry of a wallet has the balances after it. */
export function createWalletStatements(db: Db) {
  const wallets = db.collection<WalletDocument>(collectionNames.wallets);
  const entries = db.collection<EntryDocument>(collectionNames.entries);

  async function balancesBefore(wallet: string, at: Date, session: ClientSession): Promise<Sums> {
    const last = await entries.findOne(
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
    const beyond = page.after ? { walletSequence: { $gt: page.after.sequence } } : {};
    const found = await entries
      .find({ wallet, at: { $gte: start, $lt: to }, ...beyond }, { session })
      .sort({ at: 1, walletSequence: 1 })
      .limit(page.limit + 1)
      .toArray();
    const shown = found.slice(0, page.limit);
    const last = found.length > page.limit ? shown.at(-1) : undefined;
    return {
      opening,
      closing,
      items: shown.map((entry) => ({ entry, amount: movedOf(entry, wallet), after: after(entry) })),
      next: last && { atMs: last.at.getTime(), sequence: last.walletSequence ?? 0n },
    };
  };
}

function after({ availableAfter = 0n, heldAfter = 0n }: EntryDocument): Sums {
  return { available: availableAfter, held: heldAfter };
}

function movedOf({ debit, credit, amount }: EntryDocument, wallet: string): Sums {
  const moved = (account: string) => (credit === account ? amount : 0n) - (debit === account ? amount : 0n);
  return { available: moved(accounts.available(wallet)), held: moved(accounts.held(wallet)) };
}

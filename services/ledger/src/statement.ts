import type { PostingDocument } from './documents.ts';
import { movedOnWallet } from './domain/accounts.ts';
import type { Entry } from './domain/books.ts';

/** A period: from the first time, up to but excluding the second. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

/** An entry with what its posting says of it, and the wallet's number and balances after this entry. */
export interface StatedEntry extends Omit<PostingDocument, '_id' | 'entries' | 'kind'>, Entry {
  /** `<reference>/<kind>` */
  readonly id: string;
}

/** The entries of a posting, in order. */
export function statedEntriesOf(posting: PostingDocument): readonly StatedEntry[] {
  const { _id, entries, wallet, walletSequence, availableAfter, heldAfter, ...common } = posting;
  let [sequence, available, held] = [walletSequence ?? 0n, availableAfter ?? 0n, heldAfter ?? 0n];
  // Backwards, because a posting has the balances after its last entry.
  const stated = entries.toReversed().map((entry): StatedEntry => {
    const own = { ...common, ...entry, id: `${posting.reference}/${entry.kind}` };
    const moved = movedOnWallet(wallet ?? '', entry);
    if (moved.available === 0n && moved.held === 0n) return own;
    const after = { wallet, walletSequence: sequence, availableAfter: available, heldAfter: held };
    sequence -= 1n;
    available -= moved.available;
    held -= moved.held;
    return { ...own, ...after };
  });
  return stated.reverse();
}

/** The requested part of a statement; a place is the end of an earlier page. */
export interface StatementPage<Place> {
  readonly after: Place | undefined;
  readonly limit: number;
}

/** Balances or signed movements in minor units: a wallet has `available` and `held`, a shared account `balance`. */
export type Sums = Readonly<Record<string, bigint>>;

/**
 * An account's balances at both ends of a period, and its entries between, each with its movement and the balance after
 * it.
 */
export interface Statement<Place> {
  readonly opening: Sums;
  readonly closing: Sums;
  readonly items: readonly { readonly entry: StatedEntry; readonly amount: Sums; readonly after: Sums }[];
  /** Where the next page begins; undefined on the last page. */
  readonly next: Place | undefined;
}

/** The end of a page of a wallet's statement. */
export interface WalletPlace {
  readonly atMs: number;
  readonly sequence: bigint;
}

/** The end of a page of a shared account's statement: one of the account's entries on a page of a chain. */
export interface SharedPlace {
  readonly atMs: number;
  readonly pageId: string;
  /** The index among the account's entries on the page. */
  readonly position: number;
}

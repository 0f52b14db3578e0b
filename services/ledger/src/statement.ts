import type { EntryDocument } from './documents.ts';

/** A period: from the first time, up to but excluding the second. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
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
  readonly items: readonly { readonly entry: EntryDocument; readonly amount: Sums; readonly after: Sums }[];
  /** Where the next page begins; undefined on the last page. */
  readonly next: Place | undefined;
}

/** The end of a page of a wallet's statement. */
export interface WalletPlace {
  readonly atMs: number;
  readonly sequence: bigint;
}

/** The end of a page of a shared account's statement: an entry on a page of a chain. */
export interface SharedPlace {
  readonly atMs: number;
  readonly pageId: string;
  /** The index among the page's entries. */
  readonly position: number;
}

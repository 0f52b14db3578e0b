import type { EntryDocument } from './documents.ts';

/** A period: from the first time, up to and without the second. */
export interface Period {
  readonly from: Date;
  readonly to: Date;
}

/** What of a statement is asked for; a place is where an earlier page has ended. */
export interface StatementPage<Place> {
  readonly after: Place | undefined;
  readonly limit: number;
}

/** Balances or signed movements in minor units: of a wallet `available` and `held`, of a shared account `balance`. */
export type Sums = Readonly<Record<string, bigint>>;

/** An account's balances at both ends of a period, and its entries between, each with what it moved and left. */
export interface Statement<Place> {
  readonly opening: Sums;
  readonly closing: Sums;
  readonly items: readonly { readonly entry: EntryDocument; readonly amount: Sums; readonly after: Sums }[];
  /** Where the next page goes on; nothing where this one is the last. */
  readonly next: Place | undefined;
}

/** Where a page of a wallet's statement ends. */
export interface WalletPlace {
  readonly atMs: number;
  readonly sequence: bigint;
}

/** Where a page of a shared account's statement ends: at an entry of a page of a chain. */
export interface SharedPlace {
  readonly atMs: number;
  readonly pageId: string;
  /** Among the page's entries. */
  readonly position: number;
}

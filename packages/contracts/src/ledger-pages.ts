import { createHash } from 'node:crypto';

/** What of an entry the hash chain of the ledger covers: all of it (design 5). */
export interface ChainedEntry {
  /** `<reference>/<kind>` */
  readonly id: string;
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly causationId: string;
  readonly wallet?: string | undefined;
  readonly walletSequence?: bigint | undefined;
  readonly fee?: bigint | undefined;
  readonly rail?: string | undefined;
  readonly atMs: number;
}

/** Where a page stands in its chain; each writer partition has a chain of its own, numbered from 1. */
export interface PagePlace {
  /** `<topic>/<partition>` */
  readonly chain: string;
  readonly number: bigint;
  /** The hash of the page before; {@link GENESIS} for the first. */
  readonly previous: Uint8Array;
}

/** What the first page of every chain follows. */
export const GENESIS: Uint8Array = new Uint8Array(32);

/** No field of an entry may hold it, so that no two entries are one text. */
const SEPARATOR = '\u001f';

/** One text for one entry. */
export function entryText(entry: ChainedEntry): string {
  const { id, kind, debit, credit, amount, currency, reference, causationId } = entry;
  const { wallet = '', walletSequence = '', fee = '', rail = '', atMs } = entry;
  return [
    [id, kind, debit, credit, amount, currency, reference, causationId].join(SEPARATOR),
    [wallet, walletSequence, fee, rail, atMs].join(SEPARATOR),
  ].join(SEPARATOR);
}

/** The hash of a page: SHA-256 over the hash before it, its place, and its entries in their order. */
export function pageHash(place: PagePlace, entries: readonly ChainedEntry[]): Uint8Array {
  const hash = createHash('sha256').update(place.previous);
  hash.update(`${place.chain}${SEPARATOR}${place.number}\n`);
  return hash.update(entries.map(entryText).join('\n')).digest();
}

const NUMBER_DIGITS = 16;

/** The `_id` of a page: sorts by number within its chain. */
export function pageId(chain: string, number: bigint): string {
  return `${chain}#${number.toString().padStart(NUMBER_DIGITS, '0')}`;
}

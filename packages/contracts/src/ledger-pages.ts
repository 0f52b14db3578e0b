import { createHash } from 'node:crypto';

/** The fields of an entry that the ledger's hash chain covers: the whole document, as MongoDB holds it (ADR 16). */
export interface ChainedEntry {
  /** `<reference>/<kind>` */
  readonly _id: string;
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  /** Minor units, as all amounts here. */
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly causationId: string;
  /**
   * The wallet that the entry touches, with its sequence number and its balances after the entry; absent if it touches
   * none.
   */
  readonly wallet?: string | undefined;
  readonly walletSequence?: bigint | undefined;
  readonly availableAfter?: bigint | undefined;
  readonly heldAfter?: bigint | undefined;
  readonly fee?: bigint | undefined;
  readonly rail?: string | undefined;
  readonly at: Date;
}

/** The place of a page in its chain; each writer partition has its own chain, numbered from 1. */
export interface PagePlace {
  /** `<topic>/<partition>` */
  readonly chain: string;
  readonly number: bigint;
  /** The hash of the previous page; {@link GENESIS} for the first. */
  readonly previous: Uint8Array;
}

/** The predecessor of the first page of every chain. */
export const GENESIS: Uint8Array = new Uint8Array(32);

/** A page's line for a shared account: what the page moves there, and the chain's total at the end of the page. */
export interface ChainedLine {
  readonly account: string;
  /** Minor units, as all amounts here. */
  readonly debits: bigint;
  readonly credits: bigint;
  readonly debitsAfter: bigint;
  readonly creditsAfter: bigint;
}

/**
 * The separator of fields. No field may contain it or any other control character; verifying a page checks that too.
 */
const S = '\u001f';

/** The text of an entry that is hashed. It is one template, because it is made for every entry that is written. */
export function entryText(entry: ChainedEntry): string {
  const { _id, kind, debit, credit, amount, currency, reference, causationId, at } = entry;
  const {
    wallet = '',
    walletSequence = '',
    availableAfter = '',
    heldAfter = '',
    fee = '',
    rail = '',
  } = entry;
  const cause = `${_id}${S}${kind}${S}${reference}${S}${causationId}${S}${at.getTime()}`;
  const money = `${debit}${S}${credit}${S}${amount}${S}${currency}${S}${fee}${S}${rail}`;
  return `${cause}${S}${money}${S}${wallet}${S}${walletSequence}${S}${availableAfter}${S}${heldAfter}`;
}

function lineText({ account, debits, credits, debitsAfter, creditsAfter }: ChainedLine): string {
  return `${account}${S}${debits}${S}${credits}${S}${debitsAfter}${S}${creditsAfter}`;
}

/**
 * The hash of a page: SHA-256 over the previous hash, its place, and its entries and account lines in order. Their
 * numbers come first and each text is preceded by its length, so that different pages never give the same bytes.
 */
export function pageHash(
  place: PagePlace,
  entries: readonly ChainedEntry[],
  lines: readonly ChainedLine[],
): Uint8Array {
  let text = `${place.chain}${S}${place.number}${S}${entries.length}${S}${lines.length}`;
  for (const entry of entries) {
    const own = entryText(entry);
    text += `\n${own.length}${S}${own}`;
  }
  for (const line of lines) {
    const own = lineText(line);
    text += `\n${own.length}${S}${own}`;
  }
  return createHash('sha256').update(place.previous).update(text).digest();
}

const NUMBER_DIGITS = 16;

/** The `_id` of a page; within a chain these sort by number. */
export function pageId(chain: string, number: bigint): string {
  return `${chain}#${number.toString().padStart(NUMBER_DIGITS, '0')}`;
}

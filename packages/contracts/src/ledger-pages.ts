import { createHash } from 'node:crypto';

/** One movement of a posting: an amount from one account to another. */
export interface ChainedEntry {
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  /** Minor units, as all amounts here. */
  readonly amount: bigint;
}

/** The fields of a posting that the ledger's hash chain covers: the whole document, as MongoDB holds it (ADR 16). */
export interface ChainedPosting {
  /** `<reference>/<kind>` */
  readonly _id: string;
  readonly kind: string;
  readonly reference: string;
  readonly causationId: string;
  readonly currency: string;
  /** For a hold: our fee in it. */
  readonly fee?: bigint | undefined;
  /** The rail that a payment's money goes to or comes from. */
  readonly rail?: string | undefined;
  /** In the order in which they happen. */
  readonly entries: readonly ChainedEntry[];
  /**
   * The wallet that the entries touch, with the number of the last of them there and the balances after it; absent if
   * they touch none.
   */
  readonly wallet?: string | undefined;
  readonly walletSequence?: bigint | undefined;
  readonly availableAfter?: bigint | undefined;
  readonly heldAfter?: bigint | undefined;
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

/** The text of a posting that is hashed; it has the number of its entries, so that none is taken for a field. */
export function postingText(posting: ChainedPosting): string {
  const { _id, kind, reference, causationId, currency, entries, at } = posting;
  const {
    wallet = '',
    walletSequence = '',
    availableAfter = '',
    heldAfter = '',
    fee = '',
    rail = '',
  } = posting;
  const cause = `${_id}${S}${kind}${S}${reference}${S}${causationId}${S}${at.getTime()}${S}${currency}`;
  const after = `${wallet}${S}${walletSequence}${S}${availableAfter}${S}${heldAfter}`;
  let text = `${cause}${S}${fee}${S}${rail}${S}${after}${S}${entries.length}`;
  for (const entry of entries)
    text += `${S}${entry.kind}${S}${entry.debit}${S}${entry.credit}${S}${entry.amount}`;
  return text;
}

function lineText({ account, debits, credits, debitsAfter, creditsAfter }: ChainedLine): string {
  return `${account}${S}${debits}${S}${credits}${S}${debitsAfter}${S}${creditsAfter}`;
}

/**
 * The hash of a page: SHA-256 over the previous hash, its place, and its postings and account lines in order. Their
 * numbers come first and each text is preceded by its length, so that different pages never give the same bytes.
 */
export function pageHash(
  place: PagePlace,
  postings: readonly ChainedPosting[],
  lines: readonly ChainedLine[],
): Uint8Array {
  let text = `${place.chain}${S}${place.number}${S}${postings.length}${S}${lines.length}`;
  for (const posting of postings) {
    const own = postingText(posting);
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

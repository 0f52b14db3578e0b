import { createHash } from 'node:crypto';

/** What of an entry the hash chain of the ledger covers: the whole document, as MongoDB holds it (ADR 16). */
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
  /** The wallet that the entry touches, with its sequence and its balances afterwards; absent where it touches none. */
  readonly wallet?: string | undefined;
  readonly walletSequence?: bigint | undefined;
  readonly availableAfter?: bigint | undefined;
  readonly heldAfter?: bigint | undefined;
  readonly fee?: bigint | undefined;
  readonly rail?: string | undefined;
  readonly at: Date;
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

/** What a page says of a shared account: what it moves there, and what its chain has moved there by its end. */
export interface ChainedLine {
  readonly account: string;
  /** Minor units, as all amounts here. */
  readonly debits: bigint;
  readonly credits: bigint;
  readonly debitsAfter: bigint;
  readonly creditsAfter: bigint;
}

/** Between two fields. No field may hold it or any other control character; whoever verifies a page judges that too. */
const S = '\u001f';

/** One text for one entry; one template, because it is made for every entry that is written. */
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
 * The hash of a page: SHA-256 over the hash before it, its place, and its entries and account lines in their order.
 * Their numbers come first, and each text's length before the text: no text can pass for two, nor two for one.
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

/** The `_id` of a page: sorts by number within its chain. */
export function pageId(chain: string, number: bigint): string {
  return `${chain}#${number.toString().padStart(NUMBER_DIGITS, '0')}`;
}

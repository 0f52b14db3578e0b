import type { ChainedEntry, ChainedLine, ChainedPosting } from '@pesewa/contracts';
import type { Findings } from './findings.ts';

/** The names of the ledger's collections. */
export const collections = {
  pages: 'pages',
  postings: 'postings',
  wallets: 'wallets',
  buckets: 'accounts',
  refusals: 'refusals',
  orders: 'commands',
} as const;

/**
 * A posting as the ledger stores it. The types of all records here say what the ledger writes; the audit checks them.
 */
export type PostingRecord = ChainedPosting;

/** One movement of a posting as the ledger stores it. */
export type EntryRecord = ChainedEntry;

/** A page of a chain as the ledger stores it. */
export interface PageRecord {
  readonly _id: string;
  /** `<topic>/<partition>` of the writer. */
  readonly chain: string;
  readonly number: bigint;
  readonly at: Date;
  readonly previous: Uint8Array;
  readonly hash: Uint8Array;
  /** The ids of its postings, in order. */
  readonly postings: readonly string[];
  /** For each shared account: what the page's postings add to it, and the chain's total there at the end of the page. */
  readonly accounts: readonly LineRecord[];
}

/** A page's line for a shared account. */
export type LineRecord = ChainedLine;

/** A wallet as the ledger stores it; `_id` is `merchantId:currency`. */
export interface WalletRecord {
  readonly _id: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly available: bigint;
  readonly held: bigint;
  readonly sequence: bigint;
  /** The time of its newest posting. */
  readonly at: Date;
}

/** One writer's part of a shared account; `_id` is `<account>#<chain>`. */
export interface BucketRecord {
  readonly _id: string;
  readonly account: string;
  readonly debits: bigint;
  readonly credits: bigint;
}

/** The fields of a gateway's payment that the audit compares. */
export interface PaymentRecord {
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  /** For a completed collection: what the customer paid, which may differ from the amount asked (ADR 23). */
  readonly amountReceived?: bigint;
  readonly fee: bigint;
  readonly status: string;
  readonly step: string;
}

/** An order of the operators as the ledger stores it; `_id` is the reference of its posting. */
export interface OrderRecord {
  readonly _id: string;
  readonly kind: string;
  /** A merchant or a rail. */
  readonly target: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly direction?: string;
  readonly requestedBy: string;
  readonly status: string;
  readonly decidedBy?: string;
}

/** The separators of a hashed text, and characters that could be taken for them: no hashed text may contain one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacter = /[\u0000-\u001f\u007f]/;

/** Whether a stored value is a text that a hash covers unambiguously. */
export function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !controlCharacter.test(value);
}

/** The nearest whole number to a stored value, so that an audit can go on after a wrong type. */
export function toWhole(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
}

/** Reads a stored number; reports it unless it is a 64-bit whole number (L8). */
export function readWhole(findings: Findings, subject: string, field: string, value: unknown): bigint {
  if (typeof value !== 'bigint') {
    const found = typeof value === 'number' ? `the number ${value}, no 64-bit whole one` : typeof value;
    findings.report('L8', subject, `its ${field} is stored as ${found}`);
  }
  return toWhole(value);
}

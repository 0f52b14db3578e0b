import type { ChainedEntry, ChainedLine } from '@pesewa/contracts';
import type { Findings } from './findings.ts';

/** An entry as the ledger stores it. As all records here, its type says what is written; the audit trusts nothing of it. */
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
  /** The ids of its entries, in their order. */
  readonly entries: readonly string[];
  /** What its entries add to the shared accounts, and what the chain has moved there by its end. */
  readonly accounts: readonly LineRecord[];
}

/** A shared account on a page. */
export type LineRecord = ChainedLine;

/** A wallet as the ledger stores it; `_id` is `merchantId:currency`. */
export interface WalletRecord {
  readonly _id: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly available: bigint;
  readonly held: bigint;
  readonly sequence: bigint;
  /** The time of its newest entry. */
  readonly at: Date;
}

/** One writer's share of a shared account; `_id` is `<account>#<chain>`. */
export interface BucketRecord {
  readonly _id: string;
  readonly account: string;
  readonly debits: bigint;
  readonly credits: bigint;
}

/** A payment as its gateway stores it, as far as the books speak of it. */
export interface PaymentRecord {
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  /** Of a collection that completed: what the customer paid, which need not be the amount asked (ADR 23). */
  readonly amountReceived?: bigint;
  readonly fee: bigint;
  readonly status: string;
  readonly step: string;
}

/** An order of the operators as the ledger stores it; `_id` is the reference of its entry. */
export interface OrderRecord {
  readonly _id: string;
  readonly kind: string;
  /** The merchant, or the rail. */
  readonly target: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly direction?: string;
  readonly requestedBy: string;
  readonly status: string;
  readonly decidedBy?: string;
}

/** What separates the fields of a hashed text, or could pass for it: no text that is hashed may hold it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacter = /[\u0000-\u001f\u007f]/;

/** Whether a stored value is a text that a hash covers without a doubt. */
export function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !controlCharacter.test(value);
}

/** The nearest whole number of what is stored, so that an audit can go on behind a wrong type. */
export function toWhole(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
}

/** Reads a stored number; one that is no 64-bit whole number is reported (L8). */
export function readWhole(findings: Findings, subject: string, field: string, value: unknown): bigint {
  if (typeof value !== 'bigint') {
    const found = typeof value === 'number' ? `the number ${value}, no 64-bit whole one` : typeof value;
    findings.report('L8', subject, `its ${field} is stored as ${found}`);
  }
  return toWhole(value);
}

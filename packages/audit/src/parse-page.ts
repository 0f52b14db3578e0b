import type { Findings } from './findings.ts';
import { isPlainText, type LineRecord, type PageRecord } from './records.ts';

/** A page's place according to its id, which its fields are compared with. */
export interface PageAddress {
  readonly chain: string;
  readonly number: bigint;
}

/** The end of every page's id. */
export const pageIdEnding = /#\d{16}$/;

/** Reads the id of a page; undefined for an id that the ledger would not make. */
export function readPageId(id: string): PageAddress | undefined {
  if (!pageIdEnding.test(id)) return undefined;
  const mark = id.lastIndexOf('#');
  return { chain: id.slice(0, mark), number: BigInt(id.slice(mark + 1)) };
}

/** When a page claims to have been written; good enough to read pages in about the order of their time. */
export function pageMs({ at }: Pick<PageRecord, 'at'>): number {
  return isDate(at) ? at.getTime() : 0;
}

/** The ids on a page; empty if it has no valid list of them. */
export function pagePostingIds({ postings }: Pick<PageRecord, 'postings'>): readonly string[] {
  return isList(postings) ? postings.filter((id) => typeof id === 'string') : [];
}

const fields: ReadonlySet<string> = new Set<keyof PageRecord>([
  '_id',
  'chain',
  'number',
  'at',
  'previous',
  'hash',
  'postings',
  'accounts',
]);

const lineFields: ReadonlySet<string> = new Set<keyof LineRecord>([
  'account',
  'debits',
  'credits',
  'debitsAfter',
  'creditsAfter',
]);

/**
 * Reads a page so that an audit can go on even if it was tampered with; fields that do not match its id are reported
 * (L6).
 */
export function readPage(findings: Findings, stored: PageRecord): PageRecord | undefined {
  const { _id: id, at, previous, hash, postings, accounts } = stored;
  const address = readPageId(id);
  const report = (message: string) => findings.report('L6', id, message);
  if (!address) {
    report('is the id of no page');
    return undefined;
  }
  const { chain, number } = address;
  if (stored.chain !== chain || stored.number !== number) {
    report(`is stored as page ${String(stored.number)} of ${String(stored.chain)}: its id says otherwise`);
  }
  if (!isDate(at)) report('has no time');
  if (!isBytes(previous) || !isBytes(hash)) report('has no hash');
  const ids = pagePostingIds(stored);
  if (!isList(postings) || ids.length !== postings.length) report('has no list of postings');
  const lines = isList(accounts) ? accounts.filter((line) => isPlainText(line?.account)) : [];
  if (!isList(accounts) || lines.length !== accounts.length) report('has no list of accounts');
  const unknown =
    Object.keys(stored).find((field) => !fields.has(field)) ??
    lines.flatMap((line) => Object.keys(line)).find((field) => !lineFields.has(field));
  if (unknown !== undefined) report(`holds ${unknown}, which no hash covers`);
  return {
    _id: id,
    chain,
    number,
    at: new Date(pageMs(stored)),
    previous: isBytes(previous) ? previous : new Uint8Array(),
    hash: isBytes(hash) ? hash : new Uint8Array(),
    postings: ids,
    accounts: lines,
  };
}

function isDate(value: unknown): value is Date {
  return value instanceof Date;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

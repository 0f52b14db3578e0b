import { createBuckets, type StoredBalances } from './buckets.ts';
import { type ChainsOptions, createChains, type Head, type PageEntries } from './chains.ts';
import { checkDependentEntries, type EarlierEntries, noEarlierEntries } from './dependent-entries.ts';
import { createEntryReader } from './entries.ts';
import { createFindings, type Findings } from './findings.ts';
import { readPage } from './parse-page.ts';
import type { PageRecord } from './records.ts';
import { createWallets } from './wallets.ts';

/** The stored balances and heads, as of one moment. */
export interface Balances extends StoredBalances {
  /** The number of each chain's newest page. */
  readonly heads: ReadonlyMap<string, bigint>;
}

/** How much an audit has checked. */
export interface AuditCounts {
  readonly pages: number;
  readonly entries: number;
  readonly wallets: number;
  /** Shared accounts. */
  readonly accounts: number;
  readonly openHolds: number;
}

/**
 * Recomputes the books from the first entry on. Its memory grows with wallets, accounts and open holds, not with
 * entries.
 */
export interface LedgerAudit {
  /**
   * Takes the next page of a chain with its entries; the chains' pages may come in any order. `earlier` has at least
   * the entries that those of the page refer to.
   */
  readonly page: (page: PageRecord, entries: PageEntries, earlier?: EarlierEntries) => void;
  /** Compares with the stored balances, which must be as of the newest of the given pages. */
  readonly close: (balances: Balances) => void;
  readonly counts: () => AuditCounts;
  /** The newest page of each chain. */
  readonly heads: () => readonly Head[];
  readonly findings: Findings;
}

/** Options of an audit. */
export interface LedgerAuditOptions extends ChainsOptions {
  readonly findings?: Findings;
  /** Bounds the entries that wait for lower numbers of their wallet. */
  readonly waitingMax?: number;
}

/** Builds a {@link LedgerAudit}. */
export function createLedgerAudit(options: LedgerAuditOptions = {}): LedgerAudit {
  const { findings = createFindings(), waitingMax } = options;
  const readEntry = createEntryReader(findings);
  const chains = createChains(findings, options);
  const wallets = createWallets(findings, waitingMax);
  const buckets = createBuckets(findings);
  let entryCount = 0;
  return {
    findings,
    page: (stored, entries, earlier = noEarlierEntries) => {
      const page = readPage(findings, stored);
      if (!page) return;
      chains.page(page, entries);
      const read = entries.flatMap((record) => (record ? [readEntry(record)] : []));
      entryCount += read.length;
      checkDependentEntries(findings, read, earlier);
      buckets.page(page, read);
      for (const entry of read) wallets.entry(entry);
    },
    close: (balances) => {
      chains.close(balances.heads);
      wallets.close(balances.wallets);
      buckets.close(balances);
    },
    counts: () => ({
      pages: chains.pages(),
      entries: entryCount,
      wallets: wallets.count(),
      accounts: buckets.count(),
      openHolds: wallets.openHolds(),
    }),
    heads: chains.heads,
  };
}

import { createBuckets, type StoredBalances } from './buckets.ts';
import { createChains, type PageEntries } from './chains.ts';
import { createEntryReader } from './entries.ts';
import { createFindings, type Findings } from './findings.ts';
import type { PageRecord } from './records.ts';
import { createWallets } from './wallets.ts';

/** What is stored beside the entries, as of one moment. */
export interface Balances extends StoredBalances {
  /** The number of the newest page of each chain. */
  readonly heads: ReadonlyMap<string, bigint>;
}

/** What an audit went through. */
export interface AuditCounts {
  readonly pages: number;
  readonly entries: number;
  readonly wallets: number;
  /** Shared accounts. */
  readonly accounts: number;
  readonly openHolds: number;
}

/** Recomputes the books from the first entry on, in memory of the size of wallets, accounts and open holds. */
export interface LedgerAudit {
  /** The next page of its chain with its entries; chains may alternate as they like. */
  readonly page: (page: PageRecord, entries: PageEntries) => void;
  /** Compares with what is stored, as of the newest of the pages that were given. */
  readonly close: (balances: Balances) => void;
  readonly counts: () => AuditCounts;
  readonly findings: Findings;
}

/** Builds a {@link LedgerAudit}; `earlyMax` bounds the entries that wait for lower numbers of their wallet. */
export function createLedgerAudit(options: { readonly earlyMax?: number } = {}): LedgerAudit {
  const findings = createFindings();
  const readEntry = createEntryReader(findings);
  const chains = createChains(findings);
  const wallets = createWallets(findings, options.earlyMax);
  const buckets = createBuckets(findings);
  let entryCount = 0;
  return {
    findings,
    page: (page, entries) => {
      chains.page(page, entries);
      const read = entries.flatMap((record) => (record ? [readEntry(record)] : []));
      entryCount += read.length;
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
  };
}

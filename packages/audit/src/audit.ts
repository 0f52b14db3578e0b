import { createBuckets, type StoredBalances } from './buckets.ts';
import { type ChainsOptions, createChains, type Head, type PagePostings } from './chains.ts';
import { createPostingReader } from './entries.ts';
import { createFindings, type Findings } from './findings.ts';
import { readPage } from './parse-page.ts';
import type { PageRecord } from './records.ts';
import { checkRefunds, type EarlierPostings, noEarlierPostings } from './refunds.ts';
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
   * Takes the next page of a chain with its postings; the chains' pages may come in any order. `earlier` has at least
   * the postings that those of the page refer to.
   */
  readonly page: (page: PageRecord, postings: PagePostings, earlier?: EarlierPostings) => void;
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
  const readPosting = createPostingReader(findings);
  const chains = createChains(findings, options);
  const wallets = createWallets(findings, waitingMax);
  const buckets = createBuckets(findings);
  let entryCount = 0;
  return {
    findings,
    page: (stored, postings, earlier = noEarlierPostings) => {
      const page = readPage(findings, stored);
      if (!page) return;
      chains.page(page, postings);
      const read = postings.flatMap((record) => (record ? [readPosting(record)] : []));
      for (const entries of read) checkRefunds(findings, entries, earlier);
      const entries = read.flat();
      entryCount += entries.length;
      buckets.page(page, entries);
      for (const entry of entries) wallets.entry(entry);
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

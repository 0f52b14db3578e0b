import { createBuckets, type Sides, type StoredBalances } from './buckets.ts';
import { createChains, type PagePostings, type Tail } from './chains.ts';
import { createPostingReader } from './entries.ts';
import { createFindings, type Findings } from './findings.ts';
import type { OpenHold } from './holds.ts';
import { readPage } from './parse-page.ts';
import type { PageRecord } from './records.ts';
import { checkRefunds, type EarlierPostings, noEarlierPostings } from './refunds.ts';
import type { SequencedWallets } from './resequencer.ts';
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

/** Everything that an audit keeps of the pages that it has checked, so that another goes on behind them. */
export interface AuditState {
  readonly tails: Map<string, Tail>;
  readonly sequenced: SequencedWallets;
  readonly openHolds: Map<string, OpenHold>;
  /** Keyed by `<account>#<chain>`. */
  readonly buckets: Map<string, Sides>;
  pages: number;
  entries: number;
}

/** The state before the first page. */
export function emptyAuditState(): AuditState {
  const sequenced = { folds: new Map(), early: new Map() };
  const chains = { tails: new Map(), openHolds: new Map(), buckets: new Map() };
  return { ...chains, sequenced, pages: 0, entries: 0 };
}

/**
 * Recomputes the books from the first entry, or from a state, on. Its memory grows with wallets, accounts and open holds, not with
 * entries.
 */
export type LedgerAudit = ReturnType<typeof createLedgerAudit>;

/** Options of an audit. */
export interface LedgerAuditOptions {
  /** Where to go on; changed by every page. */
  readonly state?: AuditState;
  /** Pages may not be newer than this; by default they may have any time. */
  readonly latestMs?: number;
  readonly findings?: Findings;
  /** Bounds the entries that wait for lower numbers of their wallet. */
  readonly waitingMax?: number;
}

/** Builds a {@link LedgerAudit}. */
export function createLedgerAudit(options: LedgerAuditOptions = {}) {
  const { findings = createFindings(), state = emptyAuditState(), waitingMax } = options;
  const readPosting = createPostingReader(findings);
  const chains = createChains(findings, state.tails, options.latestMs ?? Number.POSITIVE_INFINITY);
  const wallets = createWallets(findings, state, waitingMax);
  const buckets = createBuckets(findings, state.buckets);
  return {
    findings,
    /**
     * Takes the next page of a chain with its postings; the chains' pages may come in any order. `earlier` has at least
     * the postings that those of the page refer to.
     */
    page: (stored: PageRecord, postings: PagePostings, earlier: EarlierPostings = noEarlierPostings) => {
      const page = readPage(findings, stored);
      if (!page) return;
      state.pages += 1;
      chains.page(page, postings);
      const read = postings.flatMap((record) => (record ? [readPosting(record)] : []));
      for (const entries of read) checkRefunds(findings, entries, earlier);
      const entries = read.flat();
      state.entries += entries.length;
      buckets.page(page, entries);
      for (const entry of entries) wallets.entry(entry);
    },
    /** Compares with the stored balances, which must be as of the newest of the given pages. */
    close: (balances: Balances) => {
      chains.close(balances.heads);
      wallets.close(balances.wallets);
      buckets.close(balances);
    },
    counts: (): AuditCounts => ({
      pages: state.pages,
      entries: state.entries,
      wallets: wallets.count(),
      accounts: buckets.count(),
      openHolds: wallets.openHolds(),
    }),
  };
}

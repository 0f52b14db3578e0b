import type { Clock } from '@pesewa/kernel';
import { type ClientSession, MongoClient, ReadConcern } from 'mongodb';
import { type AuditCounts, createLedgerAudit, type LedgerAudit } from './audit.ts';
import type { Head } from './chains.ts';
import { type CrossCheck, createCrossCheck, type Databases } from './cross-check.ts';
import { createFindings, type Invariant, type Violation } from './findings.ts';
import { createIdSum, type IdSum } from './id-sum.ts';
import { createOrderCheck } from './orders.ts';
import { checkPlacement } from './page-membership.ts';
import { readPages } from './page-stream.ts';
import { type LedgerSnapshot, readSnapshot } from './snapshot.ts';

/** The progress of an audit: postings of the books, or payments of the cross check. */
export interface AuditProgress {
  readonly stage: 'postings' | 'payments';
  readonly done: number;
  readonly total: number;
}

/** The result of an audit; the books are clean if there are no violations. */
export interface AuditReport extends AuditCounts {
  /** Payments that were compared with the books; 0 without a cross check. */
  readonly payments: number;
  /** Payments of the books that are archived by their age, so that nothing is left to compare; 0 without a cross check. */
  readonly archived: number;
  /** The first violations, in the order they were found. */
  readonly violations: readonly Violation[];
  /** The newest page of each chain, to compare the chains with in a later audit. */
  readonly heads: readonly Head[];
  /** The number of violations of each rule. */
  readonly violationCounts: Readonly<Partial<Record<Invariant, number>>>;
  readonly durationMs: number;
}

/** What an audit reads, and how. */
export interface AuditOptions {
  readonly mongodbUrl: string;
  /** The prefix of every database name; empty by default. */
  readonly databasePrefix?: string;
  /** Whether the gateways' records are compared too (L5, L10, L11); true by default. */
  readonly crossCheck?: boolean;
  /** How long a payment or an order may differ from its entries while events are on their way; 120 s by default. */
  readonly allowedLagMs?: number;
  /** The heads of an earlier report: each must still be a page, with the same hash. */
  readonly earlierHeads?: readonly Head[];
  readonly clock: Clock;
  readonly onProgress?: (progress: AuditProgress) => void;
}

/** Longer than it takes until a dead ledger is replaced (its session, then the rebalance) and its work goes on. */
const ALLOWED_LAG_MS = 120_000;

/** How far the clocks of the ledger's machines may be from the database's (ADR 16: five seconds from each other). */
const CLOCK_SKEW_MAX_MS = 10_000;

/**
 * Audits a running or resting system. It reads databases only: it writes nothing and calls no service
 * (docs/adr/0018-the-audit-reads-the-databases.md).
 */
export async function auditLedger(options: AuditOptions): Promise<AuditReport> {
  const { clock, databasePrefix = '' } = options;
  const startedAtMs = clock.nowMs();
  await using client = await new MongoClient(options.mongodbUrl, {
    appName: 'pesewa-audit',
    useBigInt64: true,
    readPreference: 'secondaryPreferred',
    serverSelectionTimeoutMS: 5_000,
  }).connect();
  // Not an option of the client: there it would override a snapshot's own read concern.
  const majority = { readConcern: new ReadConcern('majority') };
  const databases: Databases = {
    ledger: client.db(`${databasePrefix}ledger`, majority),
    payouts: client.db(`${databasePrefix}payouts`, majority),
    collections: client.db(`${databasePrefix}collections`, majority),
  };
  const { audit, payments, archived } = await auditDatabases(databases, options);
  return {
    ...audit.counts(),
    payments,
    archived,
    violations: audit.findings.violations(),
    violationCounts: audit.findings.counts(),
    heads: audit.heads(),
    durationMs: clock.nowMs() - startedAtMs,
  };
}

async function auditDatabases(
  databases: Databases,
  options: AuditOptions,
): Promise<{ readonly audit: LedgerAudit } & Pick<AuditReport, 'payments' | 'archived'>> {
  const { clock, crossCheck = true, allowedLagMs = ALLOWED_LAG_MS, earlierHeads = [] } = options;
  const { ledger } = databases;
  const findings = createFindings();
  const { moment, openSession } = await readSnapshot(ledger, findings);
  const audit = createLedgerAudit({ findings, earlierHeads, latestMs: moment.atMs + CLOCK_SKEW_MAX_MS });
  // A second session, because a session runs one operation at a time and pages are read ahead while others are checked.
  await using session = openSession();
  await using ahead = openSession();
  const deps = { databases, ledger, session, findings, clock, allowedLagMs };
  const orders = createOrderCheck(deps);
  const check = crossCheck ? createCrossCheck(deps) : undefined;
  const placed = createIdSum(moment.idKey);
  for await (const batch of readPages(ledger, moment.heads, ahead)) {
    for (const { page, postings } of batch.pages) {
      audit.page(page, postings, batch.earlier);
      for (const posting of postings) if (posting) placed.add(posting._id);
    }
    await orders.postings(batch);
    await check?.postings(batch);
    options.onProgress?.({ stage: 'postings', done: placed.count(), total: moment.postingIds.count() });
  }
  await comparePlaces(databases, session, audit, moment, placed);
  audit.close(moment);
  await orders.orders();
  const payments = check ? await checkPayments(databases, check, options) : 0;
  return { audit, payments, archived: check?.archived() ?? 0 };
}

/**
 * Checks that every posting is on one page and every page in one chain (L6). Sums show whether that holds; only if they
 * differ are all ids read to find the postings.
 */
async function comparePlaces(
  { ledger }: Databases,
  session: ClientSession,
  { findings, counts }: LedgerAudit,
  { postingIds, pageCount }: LedgerSnapshot,
  placed: IdSum,
): Promise<void> {
  const { pages } = counts();
  if (pages !== pageCount) {
    findings.report('L6', 'pages', `${pageCount} are stored, of which ${pages} stand in chains`);
  }
  if (placed.count() === postingIds.count() && placed.value() === postingIds.value()) return;
  const named = await checkPlacement(ledger, session, findings, postingIds.count());
  if (named > 0) return;
  findings.report(
    'L6',
    'postings',
    `${postingIds.count()} are stored, others than the ${placed.count()} on pages`,
  );
}

async function checkPayments(
  databases: Databases,
  check: CrossCheck,
  options: AuditOptions,
): Promise<number> {
  const totals = await Promise.all([
    databases.payouts.collection('payouts').estimatedDocumentCount(),
    databases.collections.collection('collections').estimatedDocumentCount(),
  ]);
  const total = totals.reduce((sum, each) => sum + each, 0);
  let done = 0;
  await check.payments((count) => {
    done += count;
    options.onProgress?.({ stage: 'payments', done, total: Math.max(done, total) });
  });
  return done;
}

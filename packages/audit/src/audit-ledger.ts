import type { Clock } from '@pesewa/kernel';
import { MongoClient, ReadConcern } from 'mongodb';
import { type AuditCounts, createLedgerAudit, type LedgerAudit } from './audit.ts';
import { type CrossCheck, createCrossCheck, type Databases } from './cross-check.ts';
import type { Invariant, Violation } from './findings.ts';
import { readPages } from './pages.ts';
import { judgePlacement } from './placement.ts';
import { readMoment } from './snapshot.ts';

/** How far an audit is: entries of the books, or payments of the cross check. */
export interface AuditProgress {
  readonly stage: 'entries' | 'payments';
  readonly done: number;
  readonly total: number;
}

/** What an audit found; clean is one without violations. */
export interface AuditReport extends AuditCounts {
  /** Payments that were compared with the books; 0 without a cross check. */
  readonly payments: number;
  /** The first ones, in the order they were found. */
  readonly violations: readonly Violation[];
  /** How many of each rule there are. */
  readonly violationCounts: Readonly<Partial<Record<Invariant, number>>>;
  readonly durationMs: number;
}

/** What an audit reads, and how. */
export interface AuditOptions {
  readonly mongodbUrl: string;
  /** What stands before every database name; nothing by default. */
  readonly databasePrefix?: string;
  /** Whether the gateways' records are compared as well (L5, L10, L11); they are by default. */
  readonly crossCheck?: boolean;
  /** How long a payment may disagree with its entries while events are on their way; 15 s by default. */
  readonly settleMs?: number;
  readonly clock: Clock;
  readonly onProgress?: (progress: AuditProgress) => void;
}

const SETTLE_MS = 15_000;

/** Audits a running or resting system: reads its databases, writes nothing, asks no service (docs/adr/0018-the-audit-reads-the-databases.md). */
export async function auditLedger(options: AuditOptions): Promise<AuditReport> {
  const { clock, databasePrefix = '' } = options;
  const startedAtMs = clock.nowMs();
  await using client = await new MongoClient(options.mongodbUrl, {
    appName: 'pesewa-audit',
    useBigInt64: true,
    readPreference: 'secondaryPreferred',
    serverSelectionTimeoutMS: 5_000,
  }).connect();
  // Not as an option of the client: there it would take the place of a snapshot's own.
  const majority = { readConcern: new ReadConcern('majority') };
  const databases: Databases = {
    ledger: client.db(`${databasePrefix}ledger`, majority),
    payouts: client.db(`${databasePrefix}payouts`, majority),
    collections: client.db(`${databasePrefix}collections`, majority),
  };
  const audit = createLedgerAudit();
  const payments = await auditDatabases(databases, audit, options);
  return {
    ...audit.counts(),
    payments,
    violations: audit.findings.violations(),
    violationCounts: audit.findings.counts(),
    durationMs: clock.nowMs() - startedAtMs,
  };
}

async function auditDatabases(
  databases: Databases,
  audit: LedgerAudit,
  options: AuditOptions,
): Promise<number> {
  const { clock, crossCheck = true, settleMs = SETTLE_MS } = options;
  const { moment, openSession } = await readMoment(databases.ledger);
  // A session runs one operation at a time, and pages are read ahead while others are checked.
  await using session = openSession();
  await using ahead = openSession();
  const { findings } = audit;
  const check = crossCheck ? createCrossCheck({ databases, session, findings, clock, settleMs }) : undefined;
  const { entryCount } = moment;
  for await (const batch of readPages(databases.ledger, moment.heads, ahead)) {
    for (const { page, entries } of batch) audit.page(page, entries);
    await check?.entries(batch);
    options.onProgress?.({ stage: 'entries', done: audit.counts().entries, total: entryCount });
  }
  audit.close(moment);
  const isPlaced = audit.counts().entries === entryCount && findings.violations().length === 0;
  if (!isPlaced) await judgePlacement(databases.ledger, session, findings, entryCount);
  return check ? await checkPayments(databases, check, options) : 0;
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

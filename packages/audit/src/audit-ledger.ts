import type { Clock } from '@pesewa/kernel';
import { type ClientSession, MongoClient, ReadConcern } from 'mongodb';
import { type AuditCounts, createLedgerAudit, emptyAuditState, type LedgerAudit } from './audit.ts';
import { checkHeads, type Head, headsOf } from './chains.ts';
import {
  type Checkpoint,
  CheckpointError,
  type CheckpointStore,
  decodeCheckpoint,
  encodeCheckpoint,
} from './checkpoint.ts';
import { type CrossCheck, createCrossCheck, type Databases } from './cross-check.ts';
import { createFindings, type Findings, type Invariant, type Violation } from './findings.ts';
import { createIdSum, emptyIdSum, type IdSum } from './id-sum.ts';
import { createOrderCheck } from './orders.ts';
import { checkPlacement } from './page-membership.ts';
import { readPages } from './page-stream.ts';
import { readSnapshot, type StoredIds } from './snapshot.ts';

/** The progress of an audit: ids of postings that are stored, pages of the books, or payments of the cross check. */
export interface AuditProgress {
  readonly stage: 'ids' | 'pages' | 'payments';
  readonly done: number;
  readonly total: number;
}

/** The result of an audit; the books are clean if there are no violations. */
export interface AuditReport extends AuditCounts {
  /** Entries that an earlier audit had verified, and that were not read again. */
  readonly entriesBefore: number;
  /** Payments that were compared with the books; 0 without a cross check. */
  readonly payments: number;
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
  /**
   * Whether the gateways' records are compared too (L5, L10, L11); true by default. Without them a checkpoint is gone on
   * from, but none is written.
   */
  readonly crossCheck?: boolean;
  /** How long a payment or an order may differ from its entries while events are on their way; 120 s by default. */
  readonly allowedLagMs?: number;
  /** The heads of an earlier report: each must still be a page, with the same hash. */
  readonly earlierHeads?: readonly Head[];
  /** What was verified is kept here, and gone on from; without it everything is read. */
  readonly checkpoints?: CheckpointStore;
  /** Whether to begin with the first page nevertheless; the checkpoint's pages must still have their hashes. */
  readonly whole?: boolean;
  /** How often a checkpoint is written; every 30 s by default. */
  readonly checkpointEveryMs?: number;
  readonly clock: Clock;
  readonly onProgress?: (progress: AuditProgress) => void;
}

/** Longer than it takes until a dead ledger is replaced (its session, then the rebalance) and its work goes on. */
const ALLOWED_LAG_MS = 120_000;

/** How far the clocks of the ledger's machines may be from the database's (ADR 16: five seconds from each other). */
const CLOCK_SKEW_MAX_MS = 10_000;

const CHECKPOINT_EVERY_MS = 30_000;

/**
 * Audits a running or resting system. It reads databases only: it writes nothing there and calls no service
 * (docs/adr/0016-pages-and-the-audit.md).
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
  const found = await auditDatabases(databases, options);
  return { ...found, durationMs: clock.nowMs() - startedAtMs };
}

async function auditDatabases(
  databases: Databases,
  options: AuditOptions,
): Promise<Omit<AuditReport, 'durationMs'>> {
  const { clock, crossCheck = true, allowedLagMs = ALLOWED_LAG_MS, earlierHeads = [] } = options;
  const { ledger } = databases;
  const findings = createFindings();
  const known = await readCheckpoint(options.checkpoints);
  const start = known && !options.whole ? known : undefined;
  const state = start?.state ?? emptyAuditState();
  const [entriesBefore, pagesBefore] = [state.entries, state.pages];
  const placed = start && !start.placed ? undefined : createIdSum(start?.placed ?? emptyIdSum());
  const { moment, openSession } = await openMoment(databases, findings, placed, options);
  if (known && moment.clusterTime < known.clusterTime)
    throw new CheckpointError('the member of MongoDB that answers is behind the checkpoint: try again');
  const save = createSaving(options, findings, { state, clusterTime: moment.clusterTime });
  const audit = createLedgerAudit({ findings, state, latestMs: moment.atMs + CLOCK_SKEW_MAX_MS });
  // A second session, because a session runs one operation at a time and pages are read ahead while others are checked.
  await using session = openSession();
  await using ahead = openSession();
  await checkHeads(ledger, session, findings, [...earlierHeads, ...headsOf(known?.state.tails ?? new Map())]);
  const deps = { databases, ledger, session, findings, clock, allowedLagMs, since: start?.watermarks };
  const orders = createOrderCheck(deps);
  const check = crossCheck ? createCrossCheck(deps) : undefined;
  const total = [...moment.heads].reduce(
    (sum, [chain, head]) => sum + Number(head - (state.tails.get(chain)?.number ?? 0n)),
    0,
  );
  const stretch = { heads: moment.heads, tails: new Map(state.tails) };
  for await (const batch of readPages(ledger, stretch, ahead)) {
    for (const { page, postings } of batch.pages) {
      audit.page(page, postings, batch.earlier);
      for (const posting of postings) if (posting) placed?.add(posting._id);
    }
    await orders.postings(batch);
    await check?.postings(batch);
    await save.sometimes({ placed: placed?.state(), watermarks: start?.watermarks });
    options.onProgress?.({ stage: 'pages', done: state.pages - pagesBefore, total });
  }
  if (moment.stored && placed) await comparePlaces(databases, session, audit, moment.stored, placed);
  audit.close(moment);
  await orders.orders();
  const payments = check ? await checkPayments(databases, check, options, start) : 0;
  await save.now({ watermarks: check?.watermarks(moment.atMs) });
  return {
    ...audit.counts(),
    entriesBefore,
    payments,
    violations: findings.violations(),
    violationCounts: findings.counts(),
    heads: headsOf(state.tails),
  };
}

async function readCheckpoint(store: CheckpointStore | undefined): Promise<Checkpoint | undefined> {
  const bytes = await store?.read();
  return bytes && decodeCheckpoint(bytes);
}

async function openMoment(
  { ledger }: Databases,
  findings: Findings,
  placed: IdSum | undefined,
  { onProgress }: AuditOptions,
): ReturnType<typeof readSnapshot> {
  if (!placed) return readSnapshot(ledger, findings);
  const total = await ledger.collection('postings').estimatedDocumentCount();
  const onRead = (done: number) => onProgress?.({ stage: 'ids', done, total: Math.max(done, total) });
  return readSnapshot(ledger, findings, { key: placed.state().key, onRead });
}

/** Writes checkpoints as long as nothing was found: a later audit then finds it again. */
function createSaving(
  { checkpoints, clock, crossCheck = true, checkpointEveryMs = CHECKPOINT_EVERY_MS }: AuditOptions,
  findings: Findings,
  fixed: Pick<Checkpoint, 'state' | 'clusterTime'>,
) {
  let savedAtMs = clock.nowMs();
  const now = async (rest: Pick<Checkpoint, 'placed' | 'watermarks'>): Promise<void> => {
    if (!checkpoints || !crossCheck || findings.violations().length > 0) return;
    await checkpoints.write(encodeCheckpoint({ ...fixed, ...rest }));
    savedAtMs = clock.nowMs();
  };
  return {
    now,
    sometimes: async (rest: Parameters<typeof now>[0]): Promise<void> => {
      if (clock.nowMs() - savedAtMs >= checkpointEveryMs) await now(rest);
    },
  };
}

/**
 * Checks that every posting is on one page and every page in one chain (L6). Sums show whether that holds; only if they
 * differ are all ids read to find the postings.
 */
async function comparePlaces(
  { ledger }: Databases,
  session: ClientSession,
  { findings, counts }: LedgerAudit,
  { postingIds, pageCount }: StoredIds,
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
  start: Checkpoint | undefined,
): Promise<number> {
  const totals = await Promise.all(
    (['payouts', 'collections'] as const).map((gateway) => {
      const payments = databases[gateway].collection(gateway);
      const from = start?.watermarks?.[gateway];
      if (from === undefined) return payments.estimatedDocumentCount();
      return payments.countDocuments({ reference: { $gte: from } });
    }),
  );
  const total = totals.reduce((sum, each) => sum + each, 0);
  let done = 0;
  await check.payments((count) => {
    done += count;
    options.onProgress?.({ stage: 'payments', done, total: Math.max(done, total) });
  });
  return done;
}

import type { Clock, Ids } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { type BreakStore, pagesOfBreaks } from '../breaks/store.ts';
import { type Gap, gapBetween, isStillNews, type OwnerRecord } from '../domain/coverage.ts';
import type { OnItsWay } from '../on-its-way.ts';
import type { RequestRepublication } from '../steps/request.ts';
import type { WorkingStore } from '../store.ts';
import type { WorkingSet } from '../working-set.ts';
import type { CoverageSource } from './coverage-source.ts';
import type {
  CoverageCounts,
  CoverageRun,
  CoverageSourceRun,
  CoverageStatus,
  CoverageStore,
} from './coverage-store.ts';

/** The audit that compares the working set with the gateways' records (ADR 27). */
export interface Coverage extends AsyncDisposable {
  /** Audits now, or joins the audit in progress; gives its result. */
  readonly run: () => Promise<CoverageRun>;
  /** Does the same without waiting; gives the audit's id. */
  readonly start: () => string;
}

/** The dependencies of the audit. */
export interface CoverageDeps {
  readonly sources: readonly CoverageSource[];
  readonly coverageStore: CoverageStore;
  readonly store: Pick<WorkingStore, 'load'>;
  readonly workingSet: WorkingSet;
  readonly breaks: Pick<BreakStore, 'list'>;
  readonly requestRepublication: RequestRepublication;
  readonly onItsWay: OnItsWay;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp'>;
  /** How late an event may be before it counts as lost. */
  readonly lagMs: number;
  /** Counts an audit and its findings. */
  readonly audited: (run: CoverageRun) => void;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/**
 * A payment that may differ, and the difference at the first look; undefined if it was reported before and may have gone.
 */
interface CoverageSuspect {
  readonly reference: string;
  readonly gap: Gap | undefined;
}

/** A suspect with the record that was read for the second check. */
interface Look extends CoverageSuspect {
  readonly record: OwnerRecord | null;
}

/** The running counts of an audit. */
type Tally = { -readonly [Name in keyof Omit<CoverageCounts, 'found'>]: number } & {
  readonly found: Record<Gap, number>;
};

/** Our own topics lag for longer than the audit waits, so late events can't be distinguished from lost ones. */
class BehindError extends Error {
  override readonly name = 'BehindError';
}

/** How many suspects are checked again together; they share the wait. */
const SUSPECTS_MAX = 10_000;
const LOOKS_PER_TRANSACTION = 100;
const REPORTED_PAGE = 200;
/** The outcomes of an audit with a gateway that outrank `done`, the worst first. */
const STATUSES = ['failed', 'behind'] as const;
const TOPICS = { payout: 'payouts', collection: 'collections' } as const;
const CAUGHT_UP = { withinMs: 300_000, lookMs: 5_000, pauseMs: 500 } as const;

/** Builds the {@link Coverage}; an audit in progress is aborted at the end, and the next one repeats it. */
export function createCoverage(deps: CoverageDeps): Coverage {
  const closing = new AbortController();
  const second = deps.messaging.groupCommit<Look, boolean>(
    'reconciler.coverage',
    (looks, transaction) => repair(deps, looks, transaction),
    { itemsMax: LOOKS_PER_TRANSACTION },
  );
  const audit = async (id: string): Promise<CoverageRun> => {
    const at = new Date(deps.clock.nowMs());
    const tally = nothingFound();
    const sources: CoverageSourceRun[] = [];
    const recordAs = async (status: CoverageStatus): Promise<CoverageRun> => {
      const run = { _id: id, at, status, sources, ...tally, tookMs: deps.clock.nowMs() - at.getTime() };
      await deps.coverageStore.record(run);
      if (status !== 'running') deps.audited(run);
      return run;
    };
    await recordAs('running');
    for (const source of deps.sources) {
      sources.push(
        await trySource({ ...deps, source, submit: second.submit, tally, signal: closing.signal }, id),
      );
      await recordAs('running');
    }
    return recordAs(STATUSES.find((status) => sources.some((one) => one.status === status)) ?? 'done');
  };
  let current: { readonly id: string; readonly run: Promise<CoverageRun> } | undefined;
  const join = () => {
    if (current) return current;
    const id = deps.ids.next('rn');
    const run = audit(id).finally(() => {
      current = undefined;
    });
    // Callers of `run` get the error too; for an audit that was only started, the log is all there is.
    run.catch((error: unknown) => deps.logger.error({ err: error, run: id }, 'the coverage audit failed'));
    current = { id, run };
    return current;
  };
  return {
    run: () => join().run,
    start: () => join().id,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await current?.run.catch(() => undefined);
    },
  };
}

function nothingFound(): Tally {
  const found = { 'coverage.missing': 0, 'coverage.ended': 0, 'coverage.behind': 0 };
  return { read: 0, tracked: 0, found, repaired: 0 };
}

/** An audit of one gateway in progress. */
interface SourceAudit extends CoverageDeps {
  readonly source: CoverageSource;
  readonly submit: (look: Look) => Promise<boolean>;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** Audits one gateway; if that fails, the other one is audited all the same. */
async function trySource(audit: SourceAudit, id: string): Promise<CoverageSourceRun> {
  const { kind } = audit.source;
  try {
    await auditSource(audit);
    return { kind, status: 'done' };
  } catch (error) {
    const status = error instanceof BehindError ? 'behind' : 'failed';
    audit.logger[status === 'behind' ? 'warn' : 'error'](
      { err: error, run: id, kind },
      'the coverage audit of a gateway is left to its next turn',
    );
    return { kind, status, error: error instanceof Error ? error.name : 'unknown' };
  }
}

/**
 * Compares in both directions: open records of the gateway with ours, then our open payments with its records. At last
 * it checks what an earlier audit has reported. It holds no more suspects at once than are checked again together.
 */
async function auditSource(audit: SourceAudit): Promise<void> {
  const { source, coverageStore, clock, lagMs, tally, signal } = audit;
  const before = new Date(clock.nowMs() - lagMs);
  const suspects: CoverageSuspect[] = [];
  const suspect = async (found: readonly CoverageSuspect[]) => {
    suspects.push(...found);
    if (suspects.length >= SUSPECTS_MAX) await lookAgain(audit, suspects.splice(0));
    signal.throwIfAborted();
  };
  const suspectGaps = (references: readonly string[], gapOf: (reference: string) => Gap | undefined) =>
    suspect(
      references.flatMap((reference) => {
        const gap = gapOf(reference);
        return gap === undefined ? [] : [{ reference, gap }];
      }),
    );
  signal.throwIfAborted();
  for await (const page of source.unended(before)) {
    tally.read += page.length;
    const references = page.map(({ reference }) => reference);
    const ours = await coverageStore.standing(references);
    await suspectGaps(references, (reference) => gapBetween(ours.get(reference), { status: 'open' }));
  }
  for await (const page of coverageStore.open(source.kind, before)) {
    tally.tracked += page.length;
    const references = page.map(({ _id }) => _id);
    const records = await source.find(references);
    await suspectGaps(references, (reference) => gapBetween(OPEN, records.get(reference) ?? null));
  }
  for await (const reported of reportedOf(audit)) await suspect(reported);
  await lookAgain(audit, suspects);
}

const OPEN = { status: 'open', terms: {} } as const;

/** Payments of this gateway whose record was behind in an earlier audit, in pages. */
async function* reportedOf({
  source,
  breaks,
  coverageStore,
}: SourceAudit): AsyncGenerator<readonly CoverageSuspect[]> {
  const reported = { kind: 'coverage.behind', status: 'unresolved', limit: REPORTED_PAGE } as const;
  for await (const page of pagesOfBreaks(breaks, reported)) {
    const references = page.map(({ reference }) => reference);
    const standing = await coverageStore.standing(references);
    const own = references.filter((reference) => standing.get(reference)?.terms?.kind === source.kind);
    yield own.map((reference) => ({ reference, gap: undefined }));
  }
}

/**
 * Checks suspects again after late events have had their time and everything in Kafka then is applied. A difference
 * found in both checks is reported and repaired.
 */
async function lookAgain(audit: SourceAudit, suspects: readonly CoverageSuspect[]): Promise<void> {
  if (suspects.length === 0) return;
  const { source, submit, clock, lagMs, tally, signal } = audit;
  await clock.sleep(lagMs, signal);
  signal.throwIfAborted();
  await untilCaughtUp(audit);
  for (let start = 0; start < suspects.length; start += LOOKS_PER_TRANSACTION) {
    signal.throwIfAborted();
    const part = suspects.slice(start, start + LOOKS_PER_TRANSACTION);
    const records = await source.find(part.map(({ reference }) => reference));
    const news = await Promise.all(
      part.map((one) => submit({ ...one, record: records.get(one.reference) ?? null })),
    );
    for (const [index, { gap }] of part.entries()) {
      if (news[index] !== true || gap === undefined) continue;
      tally.found[gap] += 1;
      if (gap !== 'coverage.behind') tally.repaired += 1;
    }
  }
}

/** Waits until everything the gateway has published by now has left its outbox and is applied here. */
async function untilCaughtUp({ messaging, onItsWay, source, clock, signal }: SourceAudit): Promise<void> {
  const lastMs = clock.nowMs() + CAUGHT_UP.withinMs;
  const topic = TOPICS[source.kind];
  const waiting = await onItsWay.waiting([topic]);
  const isApplied = async () =>
    waiting !== undefined &&
    (await onItsWay.hasLeft(waiting)) === true &&
    (await messaging.caughtUp([topic], CAUGHT_UP.lookMs));
  while (!(await isApplied())) {
    signal.throwIfAborted();
    if (!waiting || clock.nowMs() >= lastMs)
      throw new BehindError('the events of the gateway are not applied yet');
    await clock.sleep(CAUGHT_UP.pauseMs, signal);
  }
}

/**
 * Reports and repairs the remaining differences. A payment and its break are written together, so a repetition finds
 * the difference reported.
 */
async function repair(
  { store, workingSet, requestRepublication }: CoverageDeps,
  looks: readonly Look[],
  transaction: Transaction,
): Promise<readonly boolean[]> {
  const ours = await store.load(
    looks.map(({ reference }) => reference),
    transaction.session,
  );
  const news = looks.filter(({ reference, record, gap }) => isStillNews(ours.get(reference), record, gap));
  const observed = news.map(({ reference, record, gap }) => ({
    reference,
    eventId: null,
    observation: { kind: 'audited', name: 'the record of its gateway', record, gap } as const,
  }));
  await workingSet.apply(observed, transaction);
  // Other services may lack the same lost event.
  for (const { reference, record, gap } of news) {
    if (record === null || gap === undefined || gap === 'coverage.behind') continue;
    const step = gap === 'coverage.missing' ? 'opening' : 'end';
    const { kind } = record.terms;
    requestRepublication({ reference, kind, step }, transaction);
  }
  return looks.map((look) => news.includes(look));
}

import type { Clock, Ids } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { BreakStore } from '../breaks/store.ts';
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

/** The audit that holds the working set against the gateways' records (ADR 27). */
export interface Coverage extends AsyncDisposable {
  /** Audits now, or joins the audit in progress, and gives what came of it. */
  readonly run: () => Promise<CoverageRun>;
  /** The same, without waiting: gives the audit's id. */
  readonly start: () => string;
}

/** What the audit needs. */
export interface CoverageDeps {
  readonly sources: readonly CoverageSource[];
  readonly coverageStore: CoverageStore;
  readonly store: Pick<WorkingStore, 'load'>;
  readonly workingSet: WorkingSet;
  readonly breaks: Pick<BreakStore, 'list'>;
  readonly requestRepublication: RequestRepublication;
  readonly onItsWay: OnItsWay;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp'>;
  /** How late an event may be before it is taken for lost. */
  readonly settleMs: number;
  /** Counts an audit, and what it found. */
  readonly audited: (run: CoverageRun) => void;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** A payment that may differ, and how it did at first sight; nothing where it was told before and may be level again. */
interface Suspect {
  readonly reference: string;
  readonly gap: Gap | undefined;
}

/** A suspect with the record that was read for the second look. */
interface Look extends Suspect {
  readonly record: OwnerRecord | null;
}

/** What an audit adds up as it goes. */
type Tally = { -readonly [Name in keyof Omit<CoverageCounts, 'found'>]: number } & {
  readonly found: Record<Gap, number>;
};

/** Our own topics are behind for longer than the audit waits: what is late can't be told from what is lost. */
class BehindError extends Error {
  override readonly name = 'BehindError';
}

/** So many are looked at a second time together: they share the wait. */
const SUSPECTS_MAX = 10_000;
const LOOKS_PER_TRANSACTION = 100;
const TOLD_PAGE = 200;
/** How an audit went with a gateway, the worst first. */
const STATUSES = ['failed', 'behind'] as const;
const TOPICS = { payout: 'payouts', collection: 'collections' } as const;
const CAUGHT_UP = { withinMs: 300_000, lookMs: 5_000, pauseMs: 500 } as const;

/** Builds the {@link Coverage}; an audit in progress is cut short at the end, and the next one repeats it. */
export function createCoverage(deps: CoverageDeps): Coverage {
  const closing = new AbortController();
  const second = deps.messaging.groupCommit<Look, boolean>(
    'reconciler.coverage',
    (looks, transaction) => settle(deps, looks, transaction),
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
    // Whoever waits for it hears of it too; one that was only started has nobody else to tell.
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

/** Audits one gateway; where that fails, the other one is audited all the same. */
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
 * Both ways round: what its gateway has open and we have not, then what we have open and it has not; at last what an earlier
 * audit has told. No more suspects are held at once than are looked at again together.
 */
async function auditSource(audit: SourceAudit): Promise<void> {
  const { source, coverageStore, clock, settleMs, tally, signal } = audit;
  const before = new Date(clock.nowMs() - settleMs);
  const suspects: Suspect[] = [];
  const suspect = async (found: readonly Suspect[]) => {
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
  for await (const told of toldOf(audit)) await suspect(told);
  await lookAgain(audit, suspects);
}

const OPEN = { status: 'open', terms: {} } as const;

/** Payments of this gateway whose record was behind when an earlier audit looked, page by page. */
async function* toldOf({ source, breaks, coverageStore }: SourceAudit): AsyncGenerator<readonly Suspect[]> {
  const told = { kind: 'coverage.behind', status: 'unresolved', limit: TOLD_PAGE } as const;
  let after: Parameters<BreakStore['list']>[0]['after'];
  do {
    const page = await breaks.list({ ...told, after });
    const references = page.items.map(({ reference }) => reference);
    const standing = await coverageStore.standing(references);
    const own = references.filter((reference) => standing.get(reference)?.terms?.kind === source.kind);
    yield own.map((reference) => ({ reference, gap: undefined }));
    after = page.next ?? undefined;
  } while (after !== undefined);
}

/**
 * Looks at suspects again once every event that was only late has had its time, and all that Kafka then holds is applied.
 * What is the same at both looks is told, and repaired.
 */
async function lookAgain(audit: SourceAudit, suspects: readonly Suspect[]): Promise<void> {
  if (suspects.length === 0) return;
  const { source, submit, clock, settleMs, tally, signal } = audit;
  await clock.sleep(settleMs, signal);
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

/** Waits until what the gateway has told by now has left its outbox, and is applied here. */
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

/** Tells and repairs what still differs; a payment and its break are written at once, and whoever repeats it finds it told. */
async function settle(
  { store, workingSet, requestRepublication }: CoverageDeps,
  looks: readonly Look[],
  transaction: Transaction,
): Promise<readonly boolean[]> {
  const ours = await store.load(
    looks.map(({ reference }) => reference),
    transaction.session,
  );
  const news = looks.filter(({ reference, record, gap }) => isStillNews(ours.get(reference), record, gap));
  const seen = news.map(({ reference, record, gap }) => ({
    reference,
    eventId: null,
    sighting: { kind: 'audited', name: 'the record of its gateway', record, gap } as const,
  }));
  await workingSet.apply(seen, transaction);
  // Whoever else needs the event that we lack may lack it as well.
  for (const { reference, record, gap } of news) {
    if (record === null || gap === undefined || gap === 'coverage.behind') continue;
    const step = gap === 'coverage.missing' ? 'opening' : 'end';
    const { kind } = record.terms;
    requestRepublication({ reference, kind, step }, transaction);
  }
  return looks.map((look) => news.includes(look));
}

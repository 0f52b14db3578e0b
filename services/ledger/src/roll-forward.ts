import { topics } from '@pesewa/contracts';
import { type Messaging, type Recovery } from '@pesewa/messaging';
import type { RecoverOptions } from '@pesewa/runtime';
import { hasAllFields } from './domain/own-events.ts';
import type { OwnPage } from './domain/own-pages.ts';
import { orderOf } from './events.ts';
import {
  chainsOf,
  countOf,
  type Decided,
  lackingEvents,
  marksOf,
  nameOf,
  namesOf,
  type Refused,
  sinceMsOf,
} from './lacking-events.ts';
import { createMissingEvents, type MissingEvents } from './missing-events.ts';
import { anotherPage, createPageRewriter, type PageRewriter, type RewriteOutcome } from './page-rewriter.ts';
import { type LedgerStore, openLedgerStore } from './store.ts';

/** A page that did not come within so many pages will not come: no two writers are that far apart. */
const PAGES_WAITING_MAX = 1_000;

interface Run {
  readonly partition: number;
  readonly waiting: OwnPage[];
  /** The number of the newest page of each chain. */
  readonly heads: Map<string, bigint>;
  /** How far a wallet's numbers are from the published ones, because entries before them were never published. */
  readonly shifts: Map<string, bigint>;
  /** How many pages were written, and how many of them differ from the published ones. */
  readonly count: { pages: number; differing: number };
}

/** The dependencies of {@link rollPartitionForward}. */
export interface RollForwardDeps extends Pick<RecoverOptions, 'passesGaps' | 'report'> {
  readonly messaging: Pick<Messaging, 'db' | 'since' | 'inTransaction'>;
  readonly store: Pick<LedgerStore, 'newestPage' | 'read' | 'write'>;
}

interface Deps extends RollForwardDeps {
  readonly rewriter: PageRewriter;
  readonly missingEvents: MissingEvents;
}

/**
 * Brings a ledger's database that was restored from a backup forward, by the events that the ledger itself had
 * published since (ADR 45). A dry run counts what is lacking.
 */
export async function recoverLedger(recovery: Recovery): Promise<void> {
  const { messaging, isDryRun, report, begin } = recovery;
  const store = openLedgerStore(messaging.db);
  if (!isDryRun) await begin();
  for (let partition = 0; partition < topics.ledger.partitions; partition += 1) {
    if (!isDryRun) {
      await rollPartitionForward({ ...recovery, store }, partition);
      continue;
    }
    let count = 0;
    for await (const lacking of lackingEvents({ messaging, store }, partition)) count += countOf(lacking);
    report(`partition ${partition} lacks ${count} pages, decided orders and refusals`);
  }
}

/**
 * Reads a partition of the ledger's own topic from where the database ends, and writes what the database lacks.
 *
 * @throws Error if events are missing in the topic, and it does not pass gaps
 */
export async function rollPartitionForward(given: RollForwardDeps, partition: number): Promise<void> {
  const missingEvents = createMissingEvents(given.messaging.db);
  const deps = { ...given, missingEvents, rewriter: createPageRewriter({ ...given, missingEvents }) };
  const counted = { pages: 0, differing: 0 };
  const run: Run = { partition, waiting: [], heads: new Map(), shifts: new Map(), count: counted };
  const marks = marksOf(deps.messaging.db);
  const sinceMs = await sinceMsOf(deps, partition);
  await marks.updateOne({ _id: partition }, { $setOnInsert: { sinceMs } }, { upsert: true });
  for await (const { pages, orders, refusals } of lackingEvents(deps, partition)) {
    for (const { page, as } of pages) {
      if (!chainsOf(partition).includes(page.chain))
        throw stoppedError(run, `${nameOf(page)} is of another partition`);
      // Nothing may be written on top of a different page.
      if (as === 'another' && !deps.passesGaps) throw stoppedError(run, anotherPage(page));
      run.waiting.push(page);
    }
    await repeatOrders(deps, run, orders);
    await rebookRefusals(deps, run, refusals);
    await writePages(deps, run, PAGES_WAITING_MAX);
  }
  await writePages(deps, run, 0);
  await marks.deleteOne({ _id: partition });
  const { pages, differing } = counted;
  deps.report(`partition ${partition}: ${pages} pages written again, ${differing} of them differently`);
}

async function repeatOrders(deps: Deps, run: Run, orders: readonly Decided[]): Promise<void> {
  for (const { event, decided } of orders)
    if (hasAllFields(event)) await deps.rewriter.order(orderOf(decided));
    else await leaveOut(deps, run, decided.commandId);
}

async function rebookRefusals(deps: Deps, run: Run, refused: readonly Refused[]): Promise<void> {
  for (const [atMs, all] of Map.groupBy(refused, (one) => one.atMs)) {
    const whole = all.filter(({ event }) => hasAllFields(event));
    for (const name of namesOf(all.filter((one) => !whole.includes(one)))) await leaveOut(deps, run, name);
    await deps.rewriter.refusals(whole, atMs);
  }
}

/** Goes on without an event that is incomplete, if people have allowed that; it then counts as missing. */
async function leaveOut({ passesGaps, missingEvents, report }: Deps, run: Run, id: string): Promise<void> {
  if (!passesGaps) throw stoppedError(run, `the outcome of ${id} is not reported in full`);
  await missingEvents.leaveOut([id]);
  report(`partition ${run.partition}: ${id} is left out, because its outcome is not reported in full`);
}

/**
 * Writes the waiting pages, each after those that it builds on. Up to `waitingMax` pages may keep waiting for events
 * that are not read yet.
 */
async function writePages(deps: Deps, run: Run, waitingMax: number): Promise<void> {
  for (const chain of new Set(run.waiting.map((page) => page.chain)))
    run.heads.set(chain, (await deps.store.newestPage(chain)).number);
  while (run.waiting.length > 0) {
    if (await writeNextAsPublished(deps, run)) continue;
    if (run.waiting.length <= waitingMax) return;
    await writeWithTolerance(deps, run);
  }
}

/** Writes the first page that can be written as it was published; false if there is none. */
async function writeNextAsPublished(deps: Deps, run: Run): Promise<boolean> {
  const held = new Set<string>();
  for (const page of run.waiting) {
    const { chain, published } = page;
    const follows = published ? published.number <= (run.heads.get(chain) ?? 0n) + 1n : !held.has(chain);
    const outcome = follows && (await deps.rewriter.page(page, 'asPublished', run.shifts));
    if (outcome && isDone(outcome)) {
      recordProgress(deps, run, page, outcome);
      return true;
    }
    if (outcome && outcome.kind === 'gap' && !deps.passesGaps) throw stoppedError(run, outcome.reason);
    held.add(chain);
  }
  return false;
}

/**
 * Writes the first waiting page although an entry before it was never published; throws if more than that is missing.
 */
async function writeWithTolerance(deps: Deps, run: Run): Promise<void> {
  const { waiting, heads, shifts } = run;
  // Postings that are on no published page may be what a page before these lacks.
  const withPage = waiting.filter(({ published }) => published);
  const isNext = ({ chain, published }: OwnPage) =>
    published !== undefined && published.number <= (heads.get(chain) ?? 0n) + 1n;
  const page = withPage.find(isNext) ?? withPage[0] ?? waiting[0];
  if (!page) return;
  let outcome = await deps.rewriter.page(page, 'otherWalletNumbers', shifts);
  if (!isDone(outcome) && deps.passesGaps) outcome = await deps.rewriter.page(page, 'withGaps', shifts);
  if (isDone(outcome)) return recordProgress(deps, run, page, outcome);
  throw stoppedError(run, outcome.reason);
}

function stoppedError({ partition }: Run, reason: string): Error {
  return new Error(
    `${topics.ledger.name}, partition ${partition}, can't bring our database forward: ${reason}; restore a younger backup; where there is none, --pass-gaps goes on without what is missing (docs/database-restored.md)`,
  );
}

type Done = Extract<RewriteOutcome, { readonly kind: 'alreadyWritten' | 'written' }>;

const isDone = (outcome: RewriteOutcome): outcome is Done =>
  outcome.kind === 'alreadyWritten' || outcome.kind === 'written';

function recordProgress({ report }: Deps, run: Run, page: OwnPage, outcome: Done): void {
  const { waiting, heads, shifts, count } = run;
  const { chain } = page;
  waiting.splice(waiting.indexOf(page), 1);
  if (outcome.kind === 'alreadyWritten') {
    const number = page.published?.number ?? 0n;
    if (number > (heads.get(chain) ?? 0n)) heads.set(chain, number);
    return;
  }
  heads.set(chain, outcome.number);
  for (const [wallet, shift] of outcome.shifts) shifts.set(wallet, shift);
  count.pages += 1;
  if (outcome.isSame) return;
  count.differing += 1;
  const left = outcome.leftOut.length === 0 ? '' : `, without ${outcome.leftOut.join(', ')}`;
  report(`page ${outcome.number} of ${chain} differs from the one that was published${left}`);
}

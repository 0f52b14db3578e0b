import { topics } from '@pesewa/contracts';
import { CLOCK_SKEW_MAX_MS, type Messaging, PartitionStoppedError } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { Collection } from 'mongodb';
import { postingId } from './domain/instructions.ts';
import {
  type AnsweredInstruction,
  hasAllFields,
  type OwnEvent,
  type ParsedEvent,
  readOwnEvent,
} from './domain/own-events.ts';
import { createOwnPages, type OwnPage, type OwnPages } from './domain/own-pages.ts';
import { orderOf } from './events.ts';
import { createMissingEvents, type MissingEvents } from './missing-events.ts';
import { anotherPage, createPageRewriter, type PageRewriter, type RewriteOutcome } from './page-rewriter.ts';
import type { LedgerStore } from './store.ts';

/** Whether the ledger goes on if events are missing in its topic. */
export type GapPolicy = 'stop' | 'pass';

/**
 * Brings a database that was restored from a backup forward, by the events that the ledger itself had published since
 * (ADR 45).
 */
export interface RollForward {
  /**
   * Reads a partition of the ledger's own topic from where the database ends, and writes what the database lacks. It
   * must finish before anything of the same partition of any other topic is applied. In a ledger that was not restored
   * it changes nothing.
   *
   * @throws PartitionStoppedError if events are missing in the topic, or if the topic has events that the database
   * lacks although there is no sign that the database is an older one
   */
  readonly partition: (partition: number) => Promise<void>;
}

/** The times of pages, of the database and of Kafka are by three clocks, each within the allowed difference. */
const OVERLAP_MS = 3 * CLOCK_SKEW_MAX_MS;
/** A page that did not come within so many pages will not come: no two writers are that far apart. */
const PAGES_WAITING_MAX = 1_000;
const REST_MAX = 10_000;
const NO_PARTITION = -1;

interface Mark {
  readonly _id: number;
  /** The time from which its topic must be read. */
  readonly sinceMs: number;
}

interface Run {
  readonly partition: number;
  readonly waiting: OwnPage[];
  /** The number of the newest page of each chain. */
  readonly heads: Map<string, bigint>;
  /** How far a wallet's numbers are from the published ones, because entries before them were never published. */
  readonly shifts: Map<string, bigint>;
  /** How many pages were written, and how many of them differ from the published ones. */
  readonly count: { pages: number; differing: number };
  /** Records, once, that there is something to write, so that a crash does not end it. Throws if there should not be. */
  readonly begin: (lacking: string) => Promise<void>;
}

/** The dependencies of {@link RollForward}. */
export interface RollForwardDeps {
  readonly messaging: Pick<Messaging, 'db' | 'since' | 'inTransaction' | 'mayBeRestored'>;
  readonly store: Pick<LedgerStore, 'newestPage' | 'read' | 'write'>;
  readonly gaps: GapPolicy;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

interface Deps extends RollForwardDeps {
  readonly rewriter: PageRewriter;
  readonly missingEvents: MissingEvents;
}

/** Builds {@link RollForward}. */
export function createRollForward(given: RollForwardDeps): RollForward {
  const missingEvents = createMissingEvents(given.messaging.db);
  const deps = { ...given, missingEvents, rewriter: createPageRewriter({ ...given, missingEvents }) };
  const marks = deps.messaging.db.collection<Mark>('coming_forward');
  const running = new Map<number, Promise<void>>();
  return {
    partition: (partition) => {
      // The same partition of several topics is taken over at the same time.
      const inProgress = running.get(partition);
      if (inProgress) return inProgress;
      const begun = rollPartitionForward(deps, marks, partition).finally(() => running.delete(partition));
      running.set(partition, begun);
      return begun;
    },
  };
}

async function rollPartitionForward(deps: Deps, marks: Collection<Mark>, partition: number): Promise<void> {
  const { messaging, logger } = deps;
  // A newly elected primary may not know yet what a majority has; it answers a write only once it does.
  await marks.deleteOne({ _id: NO_PARTITION });
  const mark = await marks.findOne({ _id: partition }, { readConcern: { level: 'majority' } });
  const sinceMs = mark?.sinceMs ?? (await newestMs(deps.store, partition)) - OVERLAP_MS;
  let isBegun = mark !== null;
  const begin = async (lacking: string) => {
    if (isBegun) return;
    // Otherwise anybody with the right to write to the topic could have entries booked.
    if (!(await messaging.mayBeRestored())) throw unexpectedEventsError(partition, lacking);
    await marks.updateOne({ _id: partition }, { $setOnInsert: { sinceMs } }, { upsert: true });
    isBegun = true;
    logger.info({ partition }, 'the database is an older one: the ledger comes forward by its own events');
  };
  const count = { pages: 0, differing: 0 };
  const run: Run = { partition, waiting: [], heads: new Map(), shifts: new Map(), count, begin };
  const pages = createOwnPages(partition);
  for await (const events of messaging.since('ledger', partition, sinceMs)) {
    await ingest(deps, run, pages, events);
    await writePages(deps, run, PAGES_WAITING_MAX);
    if (pages.restSize() > REST_MAX) await forgetKnown(deps, pages);
  }
  await forgetKnown(deps, pages);
  run.waiting.push(...pages.rest());
  await writePages(deps, run, 0);
  if (!isBegun) return;
  await marks.deleteOne({ _id: partition });
  logger.info({ partition, ...count }, 'the ledger has come forward by its own events');
}

const chainsOf = (partition: number): readonly string[] =>
  ['payouts', 'collections', 'ledgerCommands'].map((topic) => `${topic}/${partition}`);

/** The time of the newest page of a partition's chains; if there is none, a time from which the whole topic is read. */
async function newestMs(store: Deps['store'], partition: number): Promise<number> {
  const heads = await Promise.all(chainsOf(partition).map((chain) => store.newestPage(chain)));
  return Math.max(OVERLAP_MS, ...heads.map(({ atMs }) => atMs));
}

async function ingest(deps: Deps, run: Run, pages: OwnPages, events: readonly OwnEvent[]): Promise<void> {
  const ownPages: OwnPage[] = [];
  const decided: Decided[] = [];
  const refused: Refused[] = [];
  for (const news of events.map(readOwnEvent)) {
    if (news.kind === 'order') decided.push(news);
    else if (news.kind === 'refusal') refused.push(news);
    else {
      const page = pages.add(news);
      if (page) ownPages.push(page);
    }
  }
  const lacking = await deps.missingEvents.lacking(ownPages.flatMap(({ published }) => published ?? []));
  for (const page of ownPages) {
    const lack = page.published && lacking.get(page.published);
    if (!lack) continue;
    await run.begin(lack === 'another' ? `another ${nameOf(page)}` : nameOf(page));
    if (!chainsOf(run.partition).includes(page.chain))
      throw stoppedError(run, `${nameOf(page)} is of another partition`);
    // Nothing may be written on top of a different page.
    if (lack === 'another' && deps.gaps === 'stop') throw stoppedError(run, anotherPage(page));
    run.waiting.push(page);
  }
  await repeatOrders(deps, run, decided);
  await rebookRefusals(deps, run, refused);
}

async function repeatOrders(deps: Deps, run: Run, orders: readonly Decided[]): Promise<void> {
  const undecided = await deps.missingEvents.undecided(orders.map(({ decided }) => decided.commandId));
  for (const { event, decided } of orders) {
    const { commandId } = decided;
    if (!undecided.has(commandId)) continue;
    await run.begin(`the decision about ${commandId}`);
    if (hasAllFields(event)) await deps.rewriter.order(orderOf(decided));
    else await leaveOut(deps, run, commandId);
  }
}

async function rebookRefusals(deps: Deps, run: Run, refused: readonly Refused[]): Promise<void> {
  const unanswered = await deps.missingEvents.unanswered(namesOf(refused));
  const forgotten = refused.filter(({ instruction }) => unanswered.has(postingId(instruction)));
  for (const [atMs, all] of Map.groupBy(forgotten, (one) => one.atMs)) {
    await run.begin(`the refusal of ${namesOf(all).join(', ')}`);
    const whole = all.filter(({ event }) => hasAllFields(event));
    for (const name of namesOf(all.filter((one) => !whole.includes(one)))) await leaveOut(deps, run, name);
    await deps.rewriter.refusals(whole, atMs);
  }
}

/** Goes on without an event that is incomplete, if people have allowed that; it then counts as missing. */
async function leaveOut({ gaps, missingEvents, logger }: Deps, run: Run, id: string): Promise<void> {
  if (gaps === 'stop') throw stoppedError(run, `the outcome of ${id} is not reported in full`);
  await missingEvents.leaveOut([id]);
  logger.warn(
    { partition: run.partition, leftOut: [id] },
    'an outcome that is not reported in full is left out',
  );
}

type Decided = Extract<ParsedEvent, { readonly kind: 'order' }>;
type Refused = Extract<ParsedEvent, { readonly kind: 'refusal' }>;

const namesOf = (answered: readonly AnsweredInstruction[]): readonly string[] =>
  answered.map(({ instruction }) => postingId(instruction));

/** Drops answers that were published again and are on a page already. */
async function forgetKnown({ missingEvents }: Deps, pages: OwnPages): Promise<void> {
  const rest = pages.rest();
  const unanswered = await missingEvents.unanswered(rest.flatMap(({ postings }) => namesOf(postings)));
  for (const page of rest)
    if (!namesOf(page.postings).some((name) => unanswered.has(name))) pages.forget(page);
}

/**
 * Writes the waiting pages, each after those that it builds on. Up to `waitingMax` pages may keep waiting for events
 * that are not read yet.
 */
async function writePages(deps: Deps, run: Run, waitingMax: number): Promise<void> {
  for (const chain of new Set(run.waiting.map((page) => page.chain)))
    run.heads.set(chain, (await deps.store.newestPage(chain)).number);
  for (let [first] = run.waiting; first; [first] = run.waiting) {
    await run.begin(nameOf(first));
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
    if (outcome && outcome.kind === 'gap' && deps.gaps === 'stop') throw stoppedError(run, outcome.reason);
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
  if (!isDone(outcome) && deps.gaps === 'pass') outcome = await deps.rewriter.page(page, 'withGaps', shifts);
  if (isDone(outcome)) return recordProgress(deps, run, page, outcome);
  throw stoppedError(run, outcome.reason);
}

function stoppedError({ partition }: Run, reason: string): PartitionStoppedError {
  return new PartitionStoppedError(
    `${topics.ledger.name}, partition ${partition}, can't bring our database forward: ${reason}`,
    'restore a younger backup; where there is none, OWN_EVENTS_GAPS=pass goes on without what is missing (docs/database-restored.md)',
  );
}

/** The error for events in the topic that the database should have. */
function unexpectedEventsError(partition: number, lacking: string): PartitionStoppedError {
  return new PartitionStoppedError(
    `${topics.ledger.name}, partition ${partition}, has ${lacking}, which our database lacks, though nothing says that it is an older one`,
    'restore an older backup, if it was restored; if not, find out who wrote it (docs/runbooks/partition-stopped.md)',
  );
}

function nameOf({ chain, published, postings }: OwnPage): string {
  return published ? `page ${published.number} of ${chain}` : namesOf(postings).join(', ');
}

type Done = Extract<RewriteOutcome, { readonly kind: 'alreadyWritten' | 'written' }>;

const isDone = (outcome: RewriteOutcome): outcome is Done =>
  outcome.kind === 'alreadyWritten' || outcome.kind === 'written';

function recordProgress({ logger }: Deps, run: Run, page: OwnPage, outcome: Done): void {
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
  const { leftOut } = outcome;
  logger.warn(
    { chain, page: outcome.number.toString(), leftOut },
    'a page differs from the one that was published',
  );
}

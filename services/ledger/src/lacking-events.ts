import { topics } from '@pesewa/contracts';
import { CLOCK_SKEW_MAX_MS, type Messaging, PartitionStoppedError, RECOVER } from '@pesewa/messaging';
import type { Db } from 'mongodb';
import { postingId } from './domain/instructions.ts';
import {
  type AnsweredInstruction,
  type OwnEvent,
  type ParsedEvent,
  readOwnEvent,
} from './domain/own-events.ts';
import { createOwnPages, type OwnPage, type OwnPages } from './domain/own-pages.ts';
import { createMissingEvents, type MissingAs, type MissingEvents } from './missing-events.ts';
import type { LedgerStore } from './store.ts';

/** Events that the ledger has published and that its database lacks: it is an older one. */
export interface Lacking {
  readonly pages: readonly { readonly page: OwnPage; readonly as: MissingAs }[];
  readonly orders: readonly Decided[];
  readonly refusals: readonly Refused[];
}

/** An order with its decision, as it was published. */
export type Decided = Extract<ParsedEvent, { readonly kind: 'order' }>;
/** An instruction that was refused for good, as it was published. */
export type Refused = Extract<ParsedEvent, { readonly kind: 'refusal' }>;

/** What finding them needs. */
export interface LackingDeps {
  readonly messaging: Pick<Messaging, 'db' | 'since'>;
  readonly store: Pick<LedgerStore, 'newestPage'>;
}

interface Mark {
  readonly _id: number;
  /** The time from which its topic must be read. */
  readonly sinceMs: number;
}

/** The times of pages, of the database and of Kafka are by three clocks, each within the allowed difference. */
const OVERLAP_MS = 3 * CLOCK_SKEW_MAX_MS;
const REST_MAX = 10_000;
const NO_PARTITION = -1;

/** Where partitions are kept whose repair has begun, because what is being written no longer shows where it began. */
export const marksOf = (db: Db) => db.collection<Mark>('coming_forward');

/** The time from which a partition of the topic must be read. */
export async function sinceMsOf({ messaging, store }: LackingDeps, partition: number): Promise<number> {
  const marks = marksOf(messaging.db);
  // A newly elected primary may not know yet what a majority has; it answers a write only once it does.
  await marks.deleteOne({ _id: NO_PARTITION });
  const mark = await marks.findOne({ _id: partition }, { readConcern: { level: 'majority' } });
  const heads = await Promise.all(chainsOf(partition).map((chain) => store.newestPage(chain)));
  return mark?.sinceMs ?? Math.max(0, ...heads.map(({ atMs }) => atMs - OVERLAP_MS));
}

/**
 * What the database lacks of a partition, in the order of the topic, read from where the database ends. What is written
 * meanwhile is taken into account.
 */
export async function* lackingEvents(deps: LackingDeps, partition: number): AsyncGenerator<Lacking> {
  const missingEvents = createMissingEvents(deps.messaging.db);
  const pages = createOwnPages(partition);
  for await (const events of deps.messaging.since('ledger', partition, await sinceMsOf(deps, partition))) {
    yield await lackingOf(missingEvents, pages, events);
    if (pages.restSize() > REST_MAX) await forgetKnown(missingEvents, pages);
  }
  await forgetKnown(missingEvents, pages);
  yield { pages: pages.rest().map((page) => ({ page, as: 'absent' })), orders: [], refusals: [] };
}

/**
 * Builds the check that the database has all that the ledger has published in a partition, to be made before anything
 * of the same partition of any other topic is applied. It throws a {@link PartitionStoppedError} if that is not so.
 */
export function createPublishedCheck(deps: LackingDeps): (partition: number) => Promise<void> {
  const running = new Map<number, Promise<void>>();
  const check = async (partition: number) => {
    for await (const lacking of lackingEvents(deps, partition))
      if (countOf(lacking) > 0) throw lackingError(partition, lacking);
  };
  return (partition) => {
    // The same partition of several topics is taken over at the same time.
    const inProgress = running.get(partition) ?? check(partition).finally(() => running.delete(partition));
    running.set(partition, inProgress);
    return inProgress;
  };
}

/** The error for events in the topic that the database should have. */
function lackingError(partition: number, lacking: Lacking): PartitionStoppedError {
  return new PartitionStoppedError(
    `${topics.ledger.name}, partition ${partition}, has ${firstOf(lacking)}, which our database lacks`,
    `if the database was restored, ${RECOVER}; if not, find out who wrote it (docs/runbooks/partition-stopped.md)`,
  );
}

/** How many pages, decided orders and refusals there are. */
export const countOf = ({ pages, orders, refusals }: Lacking): number =>
  pages.length + orders.length + refusals.length;

function firstOf({ pages: [first], orders: [order], refusals }: Lacking): string {
  if (first) return first.as === 'another' ? `another ${nameOf(first.page)}` : nameOf(first.page);
  if (order) return `the decision about ${order.decided.commandId}`;
  return `the refusal of ${namesOf(refusals).join(', ')}`;
}

/** The names of what was posted or refused. */
export const namesOf = (answered: readonly AnsweredInstruction[]): readonly string[] =>
  answered.map(({ instruction }) => postingId(instruction));

/** The name of a page for people. */
export function nameOf({ chain, published, postings }: OwnPage): string {
  return published ? `page ${published.number} of ${chain}` : namesOf(postings).join(', ');
}

/** The chains of a partition. */
export const chainsOf = (partition: number): readonly string[] =>
  ['payouts', 'collections', 'ledgerCommands'].map((topic) => `${topic}/${partition}`);

async function lackingOf(
  missingEvents: MissingEvents,
  pages: OwnPages,
  events: readonly OwnEvent[],
): Promise<Lacking> {
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
  const lacking = await missingEvents.lacking(ownPages.flatMap(({ published }) => published ?? []));
  const undecided = await missingEvents.undecided(decided.map(({ decided: order }) => order.commandId));
  const unanswered = await missingEvents.unanswered(namesOf(refused));
  return {
    pages: ownPages.flatMap((page) => {
      const as = page.published && lacking.get(page.published);
      return as ? [{ page, as }] : [];
    }),
    orders: decided.filter((order) => undecided.has(order.decided.commandId)),
    refusals: refused.filter(({ instruction }) => unanswered.has(postingId(instruction))),
  };
}

/** Drops answers that were published again and are on a page already. */
async function forgetKnown(missingEvents: MissingEvents, pages: OwnPages): Promise<void> {
  const rest = pages.rest();
  const unanswered = await missingEvents.unanswered(rest.flatMap(({ postings }) => namesOf(postings)));
  for (const page of rest)
    if (!namesOf(page.postings).some((name) => unanswered.has(name))) pages.forget(page);
}

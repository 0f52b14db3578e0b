import { topics } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import { systemClock } from '@pesewa/kernel';
import { simulatorRail } from '@pesewa/stack';
import { type Collection, MongoClient } from 'mongodb';
import type { Bench, BenchOptions } from './bench.ts';
import type { OpenRecord } from './claims.ts';
import { type Asked, type FakeRail, openFakeRail } from './fake-rail.ts';
import { type Feed, openFeed } from './feed.ts';
import { initiation, openReference } from './open-records.ts';
import { type CatchUp, outageRows } from './outage-rows.ts';
import { openOwner } from './owner.ts';
import { watchMemory } from './processes.ts';
import { openService } from './single.ts';

const BACKLOG = 100_000;
const OUTAGE_MS = 3_600_000;
const PER_SECOND = 500;
/** The rail's own limits; by default polls may use half of them. */
const limits = { requestsPerSecondMax: 2 * PER_SECOND, concurrencyMax: 128 };
const railAnswers = { answerMs: 20, pendingEvery: 4 };
const FIRST_POLL_AFTER_MS = 2_000;
const FRESH_EVERY_MS = 200;
const QUIET = 150;
const FEED_BATCH = 10_000;
const DEADLINE_MS = 900_000;

/**
 * A rail that comes back after an hour: how fast 100,000 open payments are asked about, in which order, and how long
 * fresh ones wait meanwhile, against the permitted rate and against fresh ones without a backlog.
 *
 * The rail is a small server, which answers after 20 ms that a payment completed; for every fourth payment the first
 * answer is PENDING. The benchmark also stands in for the gateway that owns the payments. The hour is that of the
 * payments' events, one each 36 ms over the past hour; the rail itself is down for as long as it takes to read them.
 */
export const benchOutage: Bench = async (options) => {
  await using client = await new MongoClient(options.infrastructure.env.MONGODB_URL).connect();
  const records = client.db('reconciler').collection<OpenRecord>('polls');
  await using rail = await openFakeRail(railAnswers);
  await using reconciler = await openService({
    ...options,
    name: 'reconciler',
    environment: {
      RAILS: railOf(rail),
      FIRST_POLL_AFTER_MS: String(FIRST_POLL_AFTER_MS),
      // As in production; the demonstration's stack uses shorter times.
      POLL_BASE_MS: '30000',
      POLL_CAP_MS: '900000',
      COMPARISON_INTERVAL: '0 0 1 1 *',
    },
  });
  using memory = watchMemory(reconciler.pid());
  await using feed = await openFeed(options.infrastructure, [topics.collections]);
  await using _owner = await openOwner(options.infrastructure, feed);
  options.log('outage: fresh payments, without a backlog');
  const quiet = await pollsOfFresh(rail, feed, 'quiet', () =>
    waitUntil('the first of them', DEADLINE_MS, () => {
      if (rail.answered.length < QUIET) throw new Error(`${rail.answered.length} of ${QUIET} asked about`);
      return Promise.resolve();
    }),
  );
  const due = await loseAnHour(options, { rail, feed, records });
  const catchUp = await catchUpOn(options, { rail, feed, records }, due);
  return outageRows({ ...catchUp, quiet, perSecond: PER_SECOND, peakMib: memory.peakMib() });
};

/** What the phases share. */
interface Parts {
  readonly rail: FakeRail;
  readonly feed: Feed;
  readonly records: Collection<OpenRecord>;
}

function railOf({ url }: FakeRail): string {
  return JSON.stringify([{ ...simulatorRail({ url, publicKey: 'pesewa-at-the-bench' }), ...limits }]);
}

/** Fills the working set as an hour without the rail does; gives the due payments, the oldest first. */
async function loseAnHour({ log }: BenchOptions, { rail, feed, records }: Parts): Promise<readonly string[]> {
  rail.setDown(true);
  const there = await records.estimatedDocumentCount();
  const references = Array.from({ length: BACKLOG }, (_, index) => openReference(index));
  const firstMs = Date.now() - OUTAGE_MS - FIRST_POLL_AFTER_MS;
  for (let start = 0; start < BACKLOG; start += FEED_BATCH) {
    const batch = references.slice(start, start + FEED_BATCH);
    await feed.send(
      'collections',
      batch.map((reference, index) =>
        initiation(reference, Math.floor(firstMs + ((start + index) / BACKLOG) * OUTAGE_MS)),
      ),
    );
  }
  log(`outage: the rail is down, and ${BACKLOG.toLocaleString('en')} payments are on their way`);
  await waitUntil('the backlog', DEADLINE_MS, async () => {
    const done = (await records.estimatedDocumentCount()) - there;
    if (done < BACKLOG) throw new Error(`${done} of ${BACKLOG} payments`);
  });
  return overdue(records);
}

/**
 * The payments that are due by schedule, the oldest first: those that were asked about before the circuit opened are
 * due later.
 */
async function overdue(records: Collection<OpenRecord>): Promise<readonly string[]> {
  const found = await records
    .find({ status: 'open', scheduledAt: { $lte: new Date() } })
    .project<{ readonly _id: string; readonly scheduledAt: Date }>({ scheduledAt: 1 })
    .toArray();
  return found
    .toSorted((left, right) => left.scheduledAt.getTime() - right.scheduledAt.getTime())
    .map(({ _id }) => _id);
}

/** Measures the time from the rail's return until every payment of the backlog has ended. */
async function catchUpOn(
  { log }: BenchOptions,
  { rail, feed, records }: Parts,
  due: readonly string[],
): Promise<Pick<CatchUp, 'due' | 'asked' | 'fresh' | 'returnedMs' | 'finalisedMs' | 'refused'>> {
  const from = rail.answered.length;
  const returnedMs = Date.now();
  rail.setDown(false);
  const left = new Set(due);
  let read = from;
  let shown = due.length;
  const fresh = await pollsOfFresh(rail, feed, 'later', () =>
    waitUntil('the first polls', DEADLINE_MS, async () => {
      for (; read < rail.answered.length; read += 1) left.delete(rail.answered[read]?.reference ?? '');
      if (shown - left.size >= due.length / 10) {
        shown = left.size;
        log(`outage: ${shown.toLocaleString('en')} left to ask about`);
      }
      if (left.size > 0) throw new Error(`${left.size} of ${due.length} not asked about`);
    }),
  );
  const asked = rail.answered.slice(from, read);
  await waitUntil('the last ends', DEADLINE_MS, async () => {
    const open = await records.countDocuments({ 'terms.kind': 'collection', openState: { $exists: true } });
    if (open > 0) throw new Error(`${open} are open`);
  });
  return { due, asked, fresh, returnedMs, finalisedMs: Date.now(), refused: rail.refused() };
}

/** Feeds fresh payments while something goes on; gives how long after they were due they were asked about. */
async function pollsOfFresh(
  rail: FakeRail,
  feed: Feed,
  run: string,
  meanwhile: () => Promise<unknown>,
): Promise<readonly number[]> {
  const from = rail.answered.length;
  const dueMs = new Map<string, number>();
  const over = new AbortController();
  const feeding = (async () => {
    while (!over.signal.aborted) {
      const nowMs = Date.now();
      const reference = `co-${run}-${String(dueMs.size).padStart(6, '0')}`;
      await feed.send('collections', [initiation(reference, nowMs)]);
      dueMs.set(reference, nowMs + FIRST_POLL_AFTER_MS);
      await systemClock.sleep(FRESH_EVERY_MS - ((Date.now() - nowMs) % FRESH_EVERY_MS));
    }
  })();
  await meanwhile().finally(() => over.abort());
  const endedMs = Date.now();
  await feeding;
  const first = (): ReadonlyMap<string, number> => firstAsked(rail.answered.slice(from));
  const counted = [...dueMs].filter(([, atMs]) => atMs <= endedMs);
  await waitUntil('the polls of fresh payments', DEADLINE_MS, () => {
    const firstPolls = first();
    if (counted.some(([reference]) => !firstPolls.has(reference))) throw new Error('not all asked about');
    return Promise.resolve();
  });
  const firstPolls = first();
  return counted.map(([reference, atMs]) => (firstPolls.get(reference) ?? Number.NaN) - atMs);
}

/** When each was asked about for the first time. */
function firstAsked(asked: readonly Asked[]): ReadonlyMap<string, number> {
  return new Map(asked.toReversed().map(({ reference, atMs }) => [reference, atMs]));
}

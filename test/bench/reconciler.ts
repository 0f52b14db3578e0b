import { topics } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import { createKafka } from '@pesewa/kafka';
import { type Stack } from '@pesewa/stack';
import { type Collection, MongoClient } from 'mongodb';
import type { Bench, BenchOptions } from './bench.ts';
import { measureClaims, type OpenRecord } from './claims.ts';
import { type Feed, openFeed } from './feed.ts';
import { initiation, openReference } from './open-records.ts';
import { watchMemory } from './processes.ts';
import { against, alone, quantile, type Row } from './rows.ts';
import { initiateCollections, openSharedStack } from './shared-stack.ts';
import { openService, type SingleService } from './single.ts';

/** The open records that everything is measured with. */
const OPEN_RECORDS = 1_000_000;
const FEED_BATCH = 20_000;
const HINTS = 2_000;
const HINTS_WARM_UP = 300;
const IN_PARALLEL = 16;
const DEADLINE_MS = 1_800_000;
const MS_PER_SECOND = 1_000;

/** Payments are polled only because of callbacks. */
const latePolls = { FIRST_POLL_AFTER_MS: '86400000' };

/**
 * The reconciler with 1,000,000 open records: how long a cold start takes to rebuild them from the topic, what a claim
 * costs, and how soon a callback finishes its payment, against the same without any other record.
 */
export const benchReconciler: Bench = async (options) => {
  await using client = await new MongoClient(options.infrastructure.env.MONGODB_URL).connect();
  const records = client.db('reconciler').collection<OpenRecord>('polls');
  options.log('reconciler: callbacks, with nothing else open');
  const quiet = await measureHints(options, client, 'quiet');
  const cold = await measureColdStart(options, records);
  options.log('reconciler: claims');
  const claims = await measureClaims(options.infrastructure.env.MONGODB_URL, records);
  options.log(`reconciler: callbacks, with ${OPEN_RECORDS.toLocaleString('en')} open`);
  const full = await measureHints(options, client, '');
  return [
    ...cold,
    ...claims,
    ...(['p50Ms', 'p99Ms'] as const).map((which) =>
      against({
        name: `reconciler.hints.${which.slice(0, -2)}`,
        value: full[which],
        unit: 'ms',
        floor: quiet[which],
        detail: `from a callback to its collection's end, ${HINTS.toLocaleString('en')} of them with ${OPEN_RECORDS.toLocaleString('en')} others open; floor: the same with none; lower is better`,
      }),
    ),
  ];
};

/** Fills the topic while the reconciler is down, and waits until it has rebuilt its working set. */
async function measureColdStart(
  options: BenchOptions,
  records: Collection<OpenRecord>,
): Promise<readonly Row[]> {
  const start = (): Promise<SingleService> =>
    openService({ ...options, name: 'reconciler', environment: latePolls });
  // Started once before, so that its topics, schemas and indexes exist.
  await (await start())[Symbol.asyncDispose]();
  {
    await using feed = await openFeed(options.infrastructure, [topics.collections]);
    await fill(options, feed);
  }
  await using reconciler = await start();
  const startedMs = performance.now();
  using memory = watchMemory(reconciler.pid());
  let shown = 0;
  await waitUntil('the working set', DEADLINE_MS, async () => {
    const done = await records.estimatedDocumentCount();
    if (done - shown >= OPEN_RECORDS / 10) {
      shown = done;
      options.log(`reconciler: ${done.toLocaleString('en')} records rebuilt`);
    }
    if (done < OPEN_RECORDS) throw new Error(`${done} of ${OPEN_RECORDS} records`);
  });
  const seconds = (performance.now() - startedMs) / MS_PER_SECOND;
  const what = `${OPEN_RECORDS.toLocaleString('en')} open records from the topic's beginning`;
  return [
    alone({ name: 'reconciler.cold-start', value: seconds, unit: 's', detail: what }),
    alone({
      name: 'reconciler.cold-start.rate',
      value: OPEN_RECORDS / seconds,
      unit: 'records/s',
      detail: what,
    }),
    alone({
      name: 'reconciler.cold-start.memory',
      value: memory.peakMib(),
      unit: 'MiB',
      detail: 'the most that was resident',
    }),
  ];
}

async function fill(options: BenchOptions, feed: Feed): Promise<void> {
  for (let start = 0; start < OPEN_RECORDS; start += FEED_BATCH) {
    const messages = Array.from({ length: FEED_BATCH }, (_, index) =>
      initiation(openReference(start + index), Date.now()),
    );
    await feed.send('collections', messages);
    if (start % (OPEN_RECORDS / 10) === 0)
      options.log(`reconciler: ${start.toLocaleString('en')} of ${OPEN_RECORDS.toLocaleString('en')} events`);
  }
}

interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** From callbacks to the ends of their payments, through the whole stack. */
async function measureHints(options: BenchOptions, client: MongoClient, prefix: string): Promise<Latencies> {
  const { infrastructure } = options;
  await using stack = await openSharedStack(options, {
    ...(prefix !== '' && { prefix }),
    environment: { reconciler: latePolls },
  });
  const database = prefix === '' ? 'reconciler' : `${prefix}_reconciler`;
  const records = client.db(database).collection<OpenRecord>('polls');
  if (prefix === '') await everyoneHasRead(infrastructure.env.KAFKA_BROKERS.split(','), client);
  await collect(stack, records, HINTS_WARM_UP);
  return quantiles(await collect(stack, records, HINTS));
}

/** Waits until every consumer has passed the events that the reconciler alone was measured with. */
async function everyoneHasRead(brokers: readonly string[], client: MongoClient): Promise<void> {
  const admin = createKafka({ brokers, clientId: 'bench-lag', log: () => undefined }).admin();
  await admin.connect();
  const topic = topics.collections.name;
  const ends = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const groups = { ledger: 'ledger', 'webhook-dispatcher': 'webhooks', reconciler: 'reconciler' };
  for (const [group, database] of Object.entries(groups)) {
    const offsets = client
      .db(database)
      .collection<{ readonly _id: string; readonly next: bigint }>('consumer_offsets');
    await waitUntil(`${group} at the end of ${topic}`, DEADLINE_MS, async () => {
      for (const { partition, high } of ends) {
        const _id = `${group}/${topic}/${partition}`;
        const found = await offsets.findOne({ _id }, { useBigInt64: true });
        if ((found?.next ?? 0n) < BigInt(high)) throw new Error(`${_id} stands at ${found?.next ?? 0n}`);
      }
    });
  }
}

/** Makes collections whose customers pay at once; gives how long after its callback each ended, in milliseconds. */
async function collect(
  stack: Stack,
  records: Collection<OpenRecord>,
  count: number,
): Promise<readonly number[]> {
  const references = await initiateCollections(stack, { count, inParallel: IN_PARALLEL });
  const ended = { _id: { $in: references }, status: 'completed' };
  await waitUntil('the ends of the collections', DEADLINE_MS, async () => {
    const done = await records.countDocuments(ended);
    if (done < count) throw new Error(`${done} of ${count} ended`);
  });
  const found = await records.find(ended).toArray();
  return found.map(
    ({ endedAt, callbacks }) => (endedAt?.getTime() ?? Number.NaN) - (callbacks?.[0]?.atMs ?? Number.NaN),
  );
}

function quantiles(latenciesMs: readonly number[]): Latencies {
  return { p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) };
}

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { reservePorts, waitUntil } from '@pesewa/infrastructure';
import { createKafka, Partitioners } from '@pesewa/kafka';
import { exchange } from '@pesewa/stack';
import { MongoClient } from 'mongodb';
import type { BenchOptions } from './bench.ts';
import { forSeconds, sendLoad } from './load.ts';
import { alone, type Row } from './rows.ts';

const SECONDS = 3;
const IN_PARALLEL = 64;
const BATCH_MESSAGES = 100;
const MESSAGE_BYTES = 300;

/** What the machine achieves without our code, for comparison with everything else. */
export async function benchFloors(options: BenchOptions): Promise<readonly Row[]> {
  options.log("the machine's own floors");
  return [await helloFloor(options), await insertFloor(options), await produceFloor(options)];
}

async function helloFloor(options: BenchOptions): Promise<Row> {
  const url = new URL('readyz', await openFloorServer(options)).href;
  const load = { url, method: 'GET', headers: {}, body: () => '' } as const;
  await sendLoad({ ...load, goOn: forSeconds(1) });
  const { perSecond, p99Ms } = await sendLoad({ ...load, goOn: forSeconds(SECONDS) });
  return alone({
    name: 'floor.hello',
    value: perSecond,
    unit: 'requests/s',
    detail: `bare Hono, ${IN_PARALLEL} connections, p99 ${p99Ms} ms`,
  });
}

/** How often per second some work is done, one after another on each of several strands. */
export async function rateOf(strands: number, work: () => Promise<unknown>): Promise<number> {
  let done = 0;
  const startedMs = performance.now();
  const run = async () => {
    while (performance.now() - startedMs < SECONDS * 1_000) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: strands }, run));
  return (1_000 * done) / (performance.now() - startedMs);
}

async function insertFloor({ infrastructure }: BenchOptions): Promise<Row> {
  const writeConcern = { w: 'majority', journal: true } as const;
  const url = infrastructure.env.MONGODB_URL;
  await using client = await new MongoClient(url, { writeConcern, maxPoolSize: IN_PARALLEL }).connect();
  const collection = client.db('bench_floor').collection('inserts');
  const value = await rateOf(IN_PARALLEL, () => collection.insertOne({ at: new Date(), text: randomUUID() }));
  return alone({
    name: 'floor.insert',
    value,
    unit: 'inserts/s',
    detail: `insertOne majority + journal, ${IN_PARALLEL} in parallel`,
  });
}

async function produceFloor({ infrastructure }: BenchOptions): Promise<Row> {
  const brokers = infrastructure.env.KAFKA_BROKERS.split(',');
  const kafka = createKafka({ brokers, clientId: 'bench-floor', log: () => undefined });
  const topic = `bench.floor.${randomUUID()}`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: 8 }] });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const value = Buffer.alloc(MESSAGE_BYTES, 1);
  const messages = Array.from({ length: BATCH_MESSAGES }, (_, index) => ({ key: `k-${index}`, value }));
  const perSecond = await rateOf(1, () => producer.send({ topic, messages, acks: -1 }));
  await producer.disconnect();
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  return alone({
    name: 'floor.produce',
    value: perSecond * BATCH_MESSAGES,
    unit: 'messages/s',
    detail: `kafkajs, ${BATCH_MESSAGES} messages of ${MESSAGE_BYTES} B at a time, acks all`,
  });
}

/** Starts the simplest durable service; gives its address, where each POST is one majority insert. */
export async function openFloorServer(options: BenchOptions): Promise<string> {
  const [held] = await reservePorts(1);
  if (!held) throw new Error('no free port');
  const { port } = held;
  await held.release();
  await options.supervisor.spawnChild({
    name: 'floor-server',
    command: process.execPath,
    args: [join('test', 'bench', 'floor-server.ts'), options.infrastructure.env.MONGODB_URL, String(port)],
    cwd: options.root,
    logFile: join(options.root, '.pesewa', 'logs', 'floor-server.log'),
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntil('the floor server', 20_000, () => exchange(`${url}/readyz`));
  return `${url}/`;
}

/** A floor that was measured at the start of the run. */
export function floorOf(earlier: readonly Row[], name: string): number {
  const row = earlier.find((candidate) => candidate.name === name);
  if (!row) throw new Error(`${name} was not measured`);
  return row.value;
}

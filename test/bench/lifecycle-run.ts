import { randomBytes } from 'node:crypto';
import { topics } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import type { SeededMerchant, Stack } from '@pesewa/stack';
import type { BenchOptions } from './bench.ts';
import { floorOf } from './floors.ts';
import { type Load, type LoadOptions, sendLoad, times } from './load.ts';
import { cpuBetween, cpuSeconds, type Pids, residentMib } from './processes.ts';
import { against, alone, type Row } from './rows.ts';
import { openSharedStack } from './shared-stack.ts';
import { countBytes, openMessageCounter, readVolumes, type Volumes } from './volumes.ts';

/** The kind of payment that is sent through all services, and the names of its rows. */
export interface Subject {
  readonly name: string;
  readonly one: 'payout' | 'collection';
  /** The description of one payment, for the row's detail. */
  readonly about: string;
  /** Whether all services are one process. */
  readonly isCompact?: boolean;
  /** How each is requested; `reference` gives one of its own each time. */
  readonly requests: (
    stack: Stack,
    merchant: SeededMerchant,
    reference: () => string,
  ) => Pick<LoadOptions, 'url' | 'headers' | 'body'>;
}

const COUNT = 4_000;
const WARM_UP_COUNT = 500;
const DEADLINE_MS = 300_000;
const MS_PER_SECOND = 1_000;

/** Complete payments per second over all seven services, from request to delivered webhook, and the cost of each. */
export async function measureLives(options: BenchOptions, subject: Subject): Promise<readonly Row[]> {
  const { infrastructure } = options;
  await using stack = await openSharedStack(options, {
    // As in production, so that payments that are in progress for only seconds are not polled under load.
    environment: { reconciler: { FIRST_POLL_AFTER_MS: '30000' } },
    isCompact: subject.isCompact === true,
  });
  const pids: Pids = { ...stack.runFile().pids, ...infrastructure.pids, 'load generator': process.pid };
  const bytesBefore = await countBytes(infrastructure);
  options.log(`${subject.name}: ${WARM_UP_COUNT} ${subject.one}s to warm up`);
  await run(options, stack, subject, WARM_UP_COUNT);
  options.log(`${subject.name}: ${COUNT} ${subject.one}s`);
  const volumes = await readVolumes(infrastructure);
  const cpu = await cpuSeconds(pids);
  const lives = await run(options, stack, subject, COUNT);
  const used = cpuBetween(cpu, await cpuSeconds(pids));
  const after = await readVolumes(infrastructure);
  const bytes = await countBytes(infrastructure);
  return [
    livesRow(options, subject, lives),
    ...cpuRows(subject, used, lives.seconds),
    ...volumeRows(subject, volumes, after),
    ...collectionRows(subject, volumes, after),
    topicsRow(subject, bytesBefore, bytes),
    ...(await memoryRows(subject, pids)),
  ];
}

interface Lives {
  readonly load: Load;
  /** From the first request until the last webhook was delivered. */
  readonly seconds: number;
  readonly delivered: number;
}

async function run(options: BenchOptions, stack: Stack, subject: Subject, count: number): Promise<Lives> {
  const [merchant] = stack.merchants;
  if (!merchant) throw new Error('the stack has no merchant');
  const name = randomBytes(3).toString('hex');
  let made = 0;
  const reference = (): string => {
    made += 1;
    return `life-${name}-${made}`;
  };
  await using messages = await openMessageCounter(options.infrastructure);
  const delivered = () => messages.count(topics.webhooks.name);
  const before = await delivered();
  const startedMs = performance.now();
  const load = await sendLoad({ ...subject.requests(stack, merchant, reference), goOn: times(count) });
  const deliveredNow = await waitUntil('the webhooks', DEADLINE_MS, async () => {
    const now = (await delivered()) - before;
    if (now < load.accepted) throw new Error(`${now} of ${load.accepted} delivered`);
    return now;
  });
  return { load, seconds: (performance.now() - startedMs) / MS_PER_SECOND, delivered: deliveredNow };
}

function livesRow(
  { earlier }: BenchOptions,
  { name, one, about }: Subject,
  { load, seconds, delivered }: Lives,
): Row {
  return against({
    name,
    value: load.accepted / seconds,
    unit: `${one}s/s`,
    floor: floorOf(earlier, 'floor.insert'),
    detail:
      `${load.accepted.toLocaleString('en')} ${about}, accepted at ${Math.round(load.perSecond)}/s, ` +
      `p99 ${load.p99Ms} ms, ${load.refused} refused, ${load.accepted - delivered} lost; floor: insertOne majority`,
  });
}

/** Where the CPU time goes, the largest share first. */
function cpuRows(
  subject: Subject,
  used: readonly (readonly [string, number])[],
  seconds: number,
): readonly Row[] {
  const sorted = used.toSorted(([, left], [, right]) => right - left);
  const sum = sorted.reduce((total, [, own]) => total + own, 0);
  return [['all', sum] as const, ...sorted].map(([name, own]) =>
    alone({
      name: `${subject.name}.cpu.${name.replaceAll(' ', '-')}`,
      value: (MS_PER_SECOND * own) / COUNT,
      unit: `ms/${subject.one}`,
      detail: `${own.toFixed(1)} s of ${seconds.toFixed(1)} s, ${Math.round((100 * own) / sum)} %`,
    }),
  );
}

const COLLECTIONS_SHOWN = 12;

/** The collections in which the database spends most of its time, and all of them together. */
function collectionRows({ name, one }: Subject, before: Volumes, after: Volumes): readonly Row[] {
  const used = [...after.collectionMs].map(
    ([collection, ms]) => [collection, ms - (before.collectionMs.get(collection) ?? 0)] as const,
  );
  const all = used.reduce((sum, [, ms]) => sum + ms, 0);
  const longest = used.toSorted(([, left], [, right]) => right - left).slice(0, COLLECTIONS_SHOWN);
  return [['all', all] as const, ...longest].map(([collection, ms]) =>
    alone({
      name: `${name}.mongodb.time.${collection}`,
      value: ms / COUNT,
      unit: `ms/${one}`,
      detail: `${Math.round((100 * ms) / all)} % of the time of all collections, waiting included`,
    }),
  );
}

function volumeRows(subject: Subject, before: Volumes, after: Volumes): readonly Row[] {
  const row = (
    name: string,
    key: 'documentWrites' | 'commands' | 'journalBytes' | 'storedBytes',
    detail: string,
  ) =>
    alone({
      name: `${subject.name}.mongodb.${name}`,
      value: (after[key] - before[key]) / COUNT,
      unit: `${key.endsWith('Bytes') ? 'B' : name}/${subject.one}`,
      detail,
    });
  return [
    row('writes', 'documentWrites', 'documents inserted, changed and deleted, by all services'),
    row('commands', 'commands', 'of every kind; many documents share one'),
    row('journal', 'journalBytes', "bytes of the server's write-ahead log"),
    row('stored', 'storedBytes', 'bytes of documents and indexes that stay, uncompressed'),
  ];
}

function topicsRow(
  subject: Subject,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Row {
  const byTopic = [...after]
    .map(([topic, bytes]) => [topic, (bytes - (before.get(topic) ?? 0)) / (COUNT + WARM_UP_COUNT)] as const)
    .filter(([, bytes]) => bytes >= 1)
    .toSorted(([, left], [, right]) => right - left);
  return alone({
    name: `${subject.name}.kafka.bytes`,
    value: byTopic.reduce((sum, [, bytes]) => sum + bytes, 0),
    unit: `B/${subject.one}`,
    detail: byTopic.map(([topic, bytes]) => `${topic} ${Math.round(bytes)}`).join(', '),
  });
}

async function memoryRows(subject: Subject, pids: Pids): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, pid] of Object.entries(pids)) {
    const mib = await residentMib(pid);
    if (mib === undefined || pid === process.pid) continue;
    const detail = `resident after ${(COUNT + WARM_UP_COUNT).toLocaleString('en')} ${subject.one}s`;
    rows.push(alone({ name: `${subject.name}.memory.${name}`, value: mib, unit: 'MiB', detail }));
  }
  return rows;
}

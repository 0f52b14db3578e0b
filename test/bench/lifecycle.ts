import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { topics } from '@pesewa/contracts';
import { openStack, payoutBody, type Stack, waitUntil } from '@pesewa/stack';
import type { BenchOptions } from './bench.ts';
import { floorOf } from './floors.ts';
import { type Load, sendLoad, times } from './load.ts';
import { cpuBetween, cpuSeconds, type Pids, residentMib } from './processes.ts';
import { against, alone, type Row } from './rows.ts';
import { countBytes, openMessageCounter, readVolumes, type Volumes } from './volumes.ts';

const PAYOUTS = 4_000;
const WARM_UP_PAYOUTS = 500;
const PATIENCE_MS = 300_000;
const MS_PER_SECOND = 1_000;

/** Whole payouts per second: accepted, held, submitted, called back, captured and told to the merchant. */
export async function benchLifecycle(options: BenchOptions): Promise<readonly Row[]> {
  const { infrastructure } = options;
  await using stack = await openStack({
    root: options.root,
    // Ours to close, not the stack's.
    infrastructure: () =>
      Promise.resolve({ ...infrastructure, [Symbol.asyncDispose]: () => Promise.resolve() }),
    log: options.log,
    ports: 'free',
    logLevel: 'warn',
    logDirectory: join('.pesewa', 'logs', 'bench'),
    // As in production: what is on its way for seconds only, under load, is not asked for.
    environment: { reconciler: { FIRST_POLL_AFTER_MS: '30000' } },
  });
  const pids: Pids = { ...stack.runFile().pids, ...infrastructure.pids, 'load generator': process.pid };
  const bytesBefore = await countBytes(infrastructure);
  options.log(`lifecycle: ${WARM_UP_PAYOUTS} payouts to warm up`);
  await runPayouts(options, stack, WARM_UP_PAYOUTS);
  options.log(`lifecycle: ${PAYOUTS} payouts`);
  const volumes = await readVolumes(infrastructure);
  const cpu = await cpuSeconds(pids);
  const run = await runPayouts(options, stack, PAYOUTS);
  const used = cpuBetween(cpu, await cpuSeconds(pids));
  const after = await readVolumes(infrastructure);
  const bytes = await countBytes(infrastructure);
  return [
    lifecycleRow(options, run),
    ...cpuRows(used, run.seconds),
    ...volumeRows(volumes, after),
    topicsRow(bytesBefore, bytes, PAYOUTS + WARM_UP_PAYOUTS),
    ...(await memoryRows(pids)),
  ];
}

interface Run {
  readonly load: Load;
  /** From the first request until the last webhook was delivered. */
  readonly seconds: number;
  readonly delivered: number;
}

async function runPayouts(options: BenchOptions, stack: Stack, count: number): Promise<Run> {
  const [merchant] = stack.merchants;
  if (!merchant) throw new Error('the stack has no merchant');
  const run = randomBytes(3).toString('hex');
  let made = 0;
  await using messages = await openMessageCounter(options.infrastructure);
  const delivered = () => messages.count(topics.webhooks.name);
  const before = await delivered();
  const startedMs = performance.now();
  const load = await sendLoad({
    url: `${stack.url('payout-gateway')}/api/v1/transactions/transfer/single`,
    headers: { 'x-api-key': Buffer.from(merchant.publicKey).toString('base64') },
    body: () => {
      made += 1;
      return payoutBody({ reference: `life-${run}-${made}`, amount: '1.50', accountNumber: '0123456789' });
    },
    goOn: times(count),
  });
  const told = await waitUntil('the webhooks', PATIENCE_MS, async () => {
    const now = (await delivered()) - before;
    if (now < load.accepted) throw new Error(`${now} of ${load.accepted} delivered`);
    return now;
  });
  return { load, seconds: (performance.now() - startedMs) / MS_PER_SECOND, delivered: told };
}

function lifecycleRow({ earlier }: BenchOptions, { load, seconds, delivered }: Run): Row {
  return against({
    name: 'lifecycle',
    value: load.accepted / seconds,
    unit: 'payouts/s',
    floor: floorOf(earlier, 'floor.insert'),
    detail:
      `${load.accepted.toLocaleString('en')} from request to webhook, accepted at ${Math.round(load.perSecond)}/s, ` +
      `p99 ${load.p99Ms} ms, ${load.refused} refused, ${load.accepted - delivered} lost; floor: insertOne majority`,
  });
}

/** Where the time goes, the greediest first. */
function cpuRows(used: readonly (readonly [string, number])[], seconds: number): readonly Row[] {
  const sorted = used.toSorted(([, left], [, right]) => right - left);
  const sum = sorted.reduce((total, [, own]) => total + own, 0);
  return [['all', sum] as const, ...sorted].map(([name, own]) =>
    alone({
      name: `lifecycle.cpu.${name.replaceAll(' ', '-')}`,
      value: (MS_PER_SECOND * own) / PAYOUTS,
      unit: 'ms/payout',
      detail: `${own.toFixed(1)} s of ${seconds.toFixed(1)} s, ${Math.round((100 * own) / sum)} %`,
    }),
  );
}

function volumeRows(before: Volumes, after: Volumes): readonly Row[] {
  const row = (
    name: string,
    key: 'documentWrites' | 'commands' | 'journalBytes' | 'storedBytes',
    detail: string,
  ) =>
    alone({
      name: `lifecycle.mongodb.${name}`,
      value: (after[key] - before[key]) / PAYOUTS,
      unit: `${key.endsWith('Bytes') ? 'B' : name}/payout`,
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
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  payouts: number,
): Row {
  const byTopic = [...after]
    .map(([topic, bytes]) => [topic, (bytes - (before.get(topic) ?? 0)) / payouts] as const)
    .filter(([, bytes]) => bytes >= 1)
    .toSorted(([, left], [, right]) => right - left);
  return alone({
    name: 'lifecycle.kafka.bytes',
    value: byTopic.reduce((sum, [, bytes]) => sum + bytes, 0),
    unit: 'B/payout',
    detail: byTopic.map(([topic, bytes]) => `${topic} ${Math.round(bytes)}`).join(', '),
  });
}

async function memoryRows(pids: Pids): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, pid] of Object.entries(pids)) {
    const mib = await residentMib(pid);
    if (mib === undefined || pid === process.pid) continue;
    const detail = `resident after ${(PAYOUTS + WARM_UP_PAYOUTS).toLocaleString('en')} payouts`;
    rows.push(alone({ name: `lifecycle.memory.${name}`, value: mib, unit: 'MiB', detail }));
  }
  return rows;
}

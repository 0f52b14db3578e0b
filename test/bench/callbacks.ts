import { randomBytes } from 'node:crypto';
import { topics } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import type { Stack } from '@pesewa/stack';
import type { Bench, BenchOptions } from './bench.ts';
import { measureFinal } from './callback-latency.ts';
import { openFloorServer } from './floors.ts';
import { forSeconds, type Load, type LoadOptions, sendLoad, times } from './load.ts';
import { callbackBody, initiatePaid } from './paid-collections.ts';
import { against, median, type Row } from './rows.ts';
import { openSharedStack } from './shared-stack.ts';
import { openService } from './single.ts';
import { openMessageCounter } from './volumes.ts';

const ROUNDS = 3;
const SECONDS = 5;
const WARM_UP_SECONDS = 2;
const WARM_UP_COUNT = 300;
const COUNT = 3_000;
const DEADLINE_MS = 300_000;
const MS_PER_SECOND = 1_000;
/** Nothing verifies the callbacks here, and the limit on such callbacks is not what is measured. */
const unlimited = { UNVERIFIED_CALLBACKS_PER_SECOND_MAX: '1000000' };

/**
 * Callbacks per second stored by the ingress, and processed by all services, against Hono with one majority insert
 * each; and how soon one that comes alone ends its payment.
 */
export const benchCallbacks: Bench = async (options) => {
  const stored = await measureStored(options);
  return [...stored.rows, await measureApplied(options, stored.floor), ...(await measureFinal(options))];
};

async function measureStored(
  options: BenchOptions,
): Promise<{ readonly rows: readonly Row[]; readonly floor: number }> {
  await using ingress = await openService({ ...options, name: 'webhook-ingress', environment: unlimited });
  const floorUrl = await openFloorServer(options);
  const run = randomBytes(8).toString('hex');
  let count = 0;
  const body = (): string => {
    count += 1;
    return callbackBody(`co-${run}${String(count).padStart(16, '0')}`);
  };
  const load = (url: string): LoadOptions => ({ url, headers: {}, body, goOn: forSeconds(SECONDS) });
  const [floor, callbacks] = [load(floorUrl), load(`${ingress.url}/rails/upstream/collections`)];
  await sendLoad({ ...floor, goOn: forSeconds(WARM_UP_SECONDS) });
  await sendLoad({ ...callbacks, goOn: forSeconds(WARM_UP_SECONDS) });
  const floors: Load[] = [];
  const rounds: Load[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    options.log(`callbacks: round ${round} of ${ROUNDS}`);
    floors.push(await sendLoad(floor));
    rounds.push(await sendLoad(callbacks));
  }
  const middle = (loads: readonly Load[], of: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    median(loads.map((one) => one[of]));
  const refused = rounds.reduce((sum, one) => sum + one.refused, 0);
  const floorRate = middle(floors, 'perSecond');
  const rows = [
    against({
      name: 'callbacks.stored',
      value: middle(rounds, 'perSecond'),
      unit: 'callbacks/s',
      floor: floorRate,
      detail: `${refused} refused; floor: Hono + insertOne majority, 64 connections`,
    }),
    against({
      name: 'callbacks.stored.p99',
      value: middle(rounds, 'p99Ms'),
      unit: 'ms',
      floor: middle(floors, 'p99Ms'),
      detail: `p50 ${middle(rounds, 'p50Ms')} ms against ${middle(floors, 'p50Ms')} ms; lower is better`,
    }),
  ];
  return { rows, floor: floorRate };
}

/** From the first callback until the last of its collections has ended: stored, looked up at the rail, finished. */
async function measureApplied(options: BenchOptions, floor: number): Promise<Row> {
  await using stack = await openSharedStack(options, {
    prefix: 'applied',
    // Only callbacks make the reconciler ask about a collection.
    environment: { reconciler: { FIRST_POLL_AFTER_MS: '600000' }, 'webhook-ingress': unlimited },
  });
  await stack.simulator.setFaults({ callbacks: false });
  await apply(options, stack, WARM_UP_COUNT);
  const { seconds, load } = await apply(options, stack, COUNT);
  return against({
    name: 'callbacks.applied',
    value: load.accepted / seconds,
    unit: 'callbacks/s',
    floor,
    detail:
      `${load.accepted.toLocaleString('en')} collections ended, each by a callback that the rail was asked about; ` +
      `stored at ${Math.round(load.perSecond)}/s, ${load.refused} refused; floor as above`,
  });
}

async function apply(
  options: BenchOptions,
  stack: Stack,
  count: number,
): Promise<{ readonly seconds: number; readonly load: Load }> {
  options.log(`callbacks: initiating ${count} collections`);
  const references = await initiatePaid(stack, count);
  await using messages = await openMessageCounter(options.infrastructure);
  const ended = () => messages.count(`applied.${topics.collections.name}`);
  const before = await ended();
  options.log(`callbacks: ${count} callbacks`);
  const startedMs = performance.now();
  const load = await sendLoad({
    url: `${stack.url('webhook-ingress')}/rails/upstream/collections`,
    headers: {},
    body: () => callbackBody(references.pop() ?? ''),
    goOn: times(references.length),
  });
  await waitUntil('the ends of the collections', DEADLINE_MS, async () => {
    const now = (await ended()) - before;
    if (now < load.accepted) throw new Error(`${now} of ${load.accepted} ended`);
    return now;
  });
  return { seconds: (performance.now() - startedMs) / MS_PER_SECOND, load };
}

import { type DeclaredMessaging, messagingServices, services } from '@pesewa/contracts';
import type { TopicEnd } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { createAutoAdvancingClock } from '@pesewa/testkit';
import { Registry } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import type { Sender } from '../on-its-way.ts';
import { type Hop, haveArrived, startArrivals, ways } from './arrivals.ts';

const uses = new Map<string, DeclaredMessaging>(
  messagingServices.map((name) => [name, services[name].messaging]),
);

it.each([...ways.payout, ...ways.collection, ...ways.webhook])(
  'a hop leads over $topic, which $from produces and all of $by consume',
  ({ from, topic, by }) => {
    const senders = [...uses.values()].filter(({ database }) => database === from);
    expect(senders.flatMap(({ produces }) => produces)).toContain(topic);
    for (const service of by) expect(uses.get(service)?.consumes).toContain(topic);
  },
);

it.each([
  ['payout', 'collection-gateway', 'collections'],
  ['collection', 'payout-gateway', 'payouts'],
] as const)('what a %s needs waits neither for %s nor for the topic of %s', (kind, gateway, topic) => {
  expect(ways[kind].flatMap(({ by }) => by)).not.toContain(gateway);
  expect(ways[kind].map((hop) => hop.topic)).not.toContain(topic);
  expect(ways[kind].flatMap(({ by }) => by)).not.toContain('webhook-dispatcher');
});

it.each([
  [60_000, [...Array.from({ length: 20 }, () => 250), 60_000, 60_000]],
  [10, Array.from({ length: 22 }, () => 10)],
])('asks again soon at first, then at the pause of %d', async (pauseMs, pauses) => {
  const closing = new AbortController();
  const slept: number[] = [];
  const sleep = async (durationMs: number) => {
    slept.push(durationMs);
    if (slept.length === pauses.length) closing.abort();
  };
  const messaging = { ends: async () => [], hasApplied: async () => false };
  const markWaiting = async () => async () => true;
  const deps = { messaging, markWaiting, clock: { nowMs: () => 0, sleep }, pauseMs };
  expect(await haveArrived(deps, ways.payout, closing.signal)).toBe(false);
  expect(slept).toEqual(pauses);
});

it('the age of what is known to have arrived grows while an outbox can not be read, and from the start on', async () => {
  let nowMs = 100_000;
  let isReadable = true;
  const looks = vi.fn<() => void>();
  const registry = new Registry();
  await using arrivals = startArrivals({
    messaging: { ends: async () => [], hasApplied: async () => true },
    markWaiting: async () => {
      looks();
      return isReadable ? async () => true : undefined;
    },
    clock: { ...createAutoAdvancingClock(), nowMs: () => nowMs },
    logger: createLogger({ name: 'test', level: 'silent' }),
    limitMs: 60_000,
    pauseMs: 1,
    registry,
  });
  const ageOf = async (kind: string) => {
    const metric = await registry.getSingleMetric('last_arrival_age_seconds')?.get();
    return metric?.values.find(({ labels }) => labels['kind'] === kind)?.value;
  };
  await expect.poll(() => arrivals.arrived('collection')?.untilMs).toBe(nowMs);
  await expect.poll(() => arrivals.arrivedUntilMs()).toBe(nowMs);
  isReadable = false;
  const before = nowMs;
  nowMs += 90_000;
  looks.mockClear();
  await expect.poll(() => looks.mock.calls.length).toBeGreaterThan(4);
  expect([await ageOf('payout'), await ageOf('collection')]).toEqual([90, 90]);
  expect(arrivals.arrived('payout')?.untilMs).toBe(before);
  expect(arrivals.arrivedUntilMs('payout')).toBe(before);
});

const hops: readonly Hop[] = [
  { from: 'payouts', topic: 'payouts', by: ['ledger'] },
  { from: 'ledger', topic: 'ledger', by: ['gateway', 'another'] },
];

/** Two hops; the test sets what waits in outboxes and what each service has applied, and what changes with each pause. */
function open() {
  const applied: Record<string, boolean | undefined> = { ledger: true, gateway: true, another: true };
  const outboxes: Record<string, readonly string[] | undefined> = { payouts: [], ledger: [] };
  const asked: string[] = [];
  const closing = new AbortController();
  const ask = async (...pauses: readonly (() => void)[]): Promise<boolean> => {
    const left = [...pauses];
    const messaging = {
      ends: async (topics: readonly string[]): Promise<readonly TopicEnd[]> => {
        asked.push(topics.join());
        return [];
      },
      hasApplied: async (service: string) => applied[service],
    };
    const markWaiting = async (of: Sender) => {
      const waiting = outboxes[of];
      return waiting && (async () => waiting.every((id) => !outboxes[of]?.includes(id)));
    };
    const sleep = async () => (left.shift() ?? (() => closing.abort()))();
    const clock = { nowMs: () => 0, sleep };
    const arrived = await haveArrived({ messaging, markWaiting, clock, pauseMs: 1 }, hops, closing.signal);
    expect(left).toEqual([]);
    return arrived;
  };
  return { applied, outboxes, asked, ask };
}

describe('what was on its way has arrived', () => {
  it('once all has gone its whole way, hop by hop', async () => {
    const { applied, asked, ask } = open();
    expect(await ask()).toBe(true);
    expect(asked.splice(0)).toEqual(['payouts', 'ledger']);
    Object.assign(applied, { ledger: false, another: false });
    const arrived = await ask(
      () => expect(asked).toEqual(['payouts']),
      () => void (applied['ledger'] = true),
      () => expect(asked).toEqual(['payouts', 'ledger']),
      () => void (applied['another'] = true),
    );
    expect(arrived).toBe(true);
  });

  it('not while what waited in an outbox waits there, whatever has come since', async () => {
    const { outboxes, asked, ask } = open();
    outboxes['payouts'] = ['a#1', 'a#2'];
    const arrived = await ask(
      () => void (outboxes['payouts'] = ['a#2', 'a#3']),
      () => expect(asked).toEqual([]),
      () => void (outboxes['payouts'] = ['a#3']),
    );
    expect(arrived).toBe(true);
  });

  it('not while what a service has made of it waits in its outbox', async () => {
    const { outboxes, asked, ask } = open();
    outboxes['ledger'] = ['l#1'];
    expect(await ask(() => expect(asked).toEqual(['payouts']))).toBe(false);
  });

  it('not if Kafka did not answer, or if it is unknown what waits', async () => {
    const { applied, outboxes, ask } = open();
    applied['ledger'] = undefined;
    expect(await ask()).toBe(false);
    applied['ledger'] = true;
    outboxes['payouts'] = undefined;
    expect(await ask()).toBe(false);
  });
});

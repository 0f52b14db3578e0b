import type { HealthView } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import { createHealth, createOperators, guardOperator, type Logger } from '@pesewa/runtime';
import { Hono } from 'hono';
import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import type { Outbox } from '../outbox/outbox.ts';
import { addHealthRoutes } from './health-routes.ts';

const TOKEN = 'operator-token-of-tests';
const at = new Date('2026-11-27T11:00:00Z');

const never = new Promise<never>(() => undefined);

async function show(given: {
  readonly parked: number | Promise<number>;
  readonly oldest: object | null;
  readonly keepsUp?: Promise<boolean>;
  readonly waiting?: Parameters<ReturnType<typeof addHealthRoutes>>[0];
}) {
  const operator = new Hono();
  const health = createHealth();
  health.setServing(true);
  health.addDetail('outbox', () => (given.oldest ? 'full' : undefined));
  health.addReadiness('clock', () => {
    if (given.oldest) throw new Error('3 s behind');
  });
  const asked: unknown[] = [];
  const countDocuments = async (...asks: readonly unknown[]) => {
    asked.push(...asks);
    return given.parked;
  };
  const findOne = async (_: object, { maxTimeMS }: { readonly maxTimeMS?: number }) => {
    asked.push({ maxTimeMS });
    return given.oldest;
  };
  const warned: string[] = [];
  const logger = {
    warn: ({ what }: { readonly what: string }) => void warned.push(what),
  } as unknown as Logger;
  // A deadline is over at once, and after what is known at once.
  const clock = { ...systemClock, sleep: () => systemClock.sleep(0) };
  const showWaiting = addHealthRoutes(
    { operator, health, logger, clock },
    {
      db: { collection: () => ({ countDocuments }) } as unknown as Db,
      outbox: { findOne } as unknown as Outbox,
      keepsUp: async (timeoutMs) => given.keepsUp ?? timeoutMs < 100,
    },
  );
  showWaiting(given.waiting ?? {});
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answered = await guardOperator(operator, createOperators(TOKEN)).request('/health', { headers });
  return { asked, warned, body: (await answered.json()) as HealthView };
}

it('shows nothing where all is well, but that the consumer is behind', async () => {
  const { body } = await show({ parked: 0, oldest: null });
  const parked = { count: 0, isCut: false };
  expect(body).toEqual({
    problems: {},
    outbox: { oldestAt: null },
    keepsUp: false,
    parked,
    waiting: {},
  });
});

it('shows what fails, what waits since when, and that more is parked than is counted', async () => {
  const { body, asked } = await show({ parked: 1_001, oldest: { createdAt: at } });
  expect(body).toMatchObject({
    problems: { outbox: 'full', clock: '3 s behind' },
    outbox: { oldestAt: at.toISOString() },
    parked: { count: 1_000, isCut: true },
  });
  // However many are parked, no more are counted.
  expect(asked).toEqual([{ maxTimeMS: 2_000 }, { state: 'parked' }, { limit: 1_001, maxTimeMS: 2_000 }]);
});

it('tells what it knows, in time, where others give no answer or fail', async () => {
  const { body, warned } = await show({
    parked: never,
    oldest: { createdAt: at },
    keepsUp: Promise.reject(new Error('no leader')),
    waiting: {
      orders: () => never,
      settings: async () => ({ count: 1, isCut: false }),
      pauses: () => Promise.reject(new Error('no database')),
      decisions: () => {
        throw new Error('no store');
      },
    },
  });
  expect(body).toEqual({
    problems: { outbox: 'full', clock: '3 s behind' },
    outbox: { oldestAt: at.toISOString() },
    keepsUp: null,
    parked: null,
    waiting: { orders: null, settings: { count: 1, isCut: false }, pauses: null, decisions: null },
  });
  expect(warned.toSorted()).toEqual(['consumer', 'decisions', 'orders', 'parked', 'pauses']);
});

it('reads nothing again within five seconds but what waits for people', async () => {
  const operator = new Hono();
  const asked: string[] = [];
  let [nowMs, isLevel] = [0, true];
  const clock = { ...systemClock, nowMs: () => nowMs };
  const counting = <Value>(what: string, value: Value) => {
    asked.push(what);
    return Promise.resolve(value);
  };
  const showWaiting = addHealthRoutes(
    { operator, health: createHealth(), logger: {} as Logger, clock },
    {
      db: { collection: () => ({ countDocuments: () => counting('parked', 0) }) } as unknown as Db,
      outbox: { findOne: () => counting('outbox', null) } as unknown as Outbox,
      keepsUp: () => counting('consumer', isLevel),
    },
  );
  showWaiting({ orders: () => counting('orders', { count: 0, isCut: false }) });
  const look = async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answered = await guardOperator(operator, createOperators(TOKEN)).request('/health', { headers });
    return ((await answered.json()) as HealthView).keepsUp;
  };
  expect(await Promise.all([look(), look()])).toEqual([true, true]);
  isLevel = false;
  nowMs = 4_999;
  expect(await look()).toBe(true);
  const messages = ['consumer', 'outbox', 'parked'];
  expect(asked.toSorted()).toEqual([...messages, 'orders', 'orders', 'orders'].toSorted());
  nowMs = 5_000;
  expect(await look()).toBe(false);
  expect(asked).toHaveLength(10);
});

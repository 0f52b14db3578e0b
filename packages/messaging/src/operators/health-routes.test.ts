import type { HealthView } from '@pesewa/contracts';
import { createHealth, createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import type { Outbox } from '../outbox/outbox.ts';
import { addHealthRoutes } from './health-routes.ts';

const TOKEN = 'operator-token-of-tests';
const at = new Date('2026-11-27T11:00:00Z');

async function show(given: { readonly parked: number; readonly oldest: object | null }) {
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
  addHealthRoutes(
    { operator, health },
    {
      db: { collection: () => ({ countDocuments }) } as unknown as Db,
      outbox: { findOne: async () => given.oldest } as unknown as Outbox,
      keepsUp: async (timeoutMs) => timeoutMs < 100,
    },
  );
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answered = await guardOperator(operator, createOperators(TOKEN)).request('/health', { headers });
  return { asked, body: (await answered.json()) as HealthView };
}

it('shows nothing where all is well, but that the consumer is behind', async () => {
  const { body } = await show({ parked: 0, oldest: null });
  const parked = { count: 0, isCut: false };
  expect(body).toEqual({ problems: {}, outboxOldestAt: null, keepsUp: false, parked });
});

it('shows what fails, what waits since when, and that more is parked than is counted', async () => {
  const { body, asked } = await show({ parked: 101, oldest: { createdAt: at } });
  expect(body).toMatchObject({
    problems: { outbox: 'full', clock: '3 s behind' },
    outboxOldestAt: at.toISOString(),
    parked: { count: 100, isCut: true },
  });
  // However many are parked, no more are counted.
  expect(asked).toEqual([{ state: 'parked' }, { limit: 101, maxTimeMS: 1_000 }]);
});

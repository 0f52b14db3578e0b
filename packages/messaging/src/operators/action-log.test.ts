import { createHash } from 'node:crypto';
import { callbackOperations, type OperatorRole } from '@pesewa/contracts';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { answer, createOperators, guardOperator, serveOperations } from '@pesewa/runtime';
import { Hono } from 'hono';
import type { Db } from 'mongodb';
import { expect, it } from 'vitest';
import { keepActions } from './action-log.ts';

const { dismiss } = callbackOperations;

/** A service whose database fails for these methods. */
async function ask(role: OperatorRole, failing: readonly string[]) {
  const logged: object[] = [];
  const fail = async (name: string) => {
    if (failing.includes(name)) throw new Error('the database is away');
  };
  const collection = () => ({ insertOne: () => fail('insertOne'), updateOne: () => fail('updateOne') });
  const routes = new Hono();
  const logger = { error: (fields: object) => void logged.push(fields) };
  const ids = createIds(systemClock, systemRandom);
  keepActions(routes, { db: { collection } as unknown as Db, clock: systemClock, ids, logger });
  let done = 0;
  const act = () => {
    done += 1;
    return answer(200, { id: 'cb-1', state: 'dismissed' as const });
  };
  serveOperations(routes, { dismiss }, { dismiss: act });
  routes.onError((_, context) => context.text('broken', 503));
  const tokenHash = createHash('sha256').update('token-of-ama').digest();
  const app = guardOperator(routes, createOperators('nobody', [{ name: 'ama', role, tokenHash }]));
  const headers = { authorization: 'Bearer token-of-ama' };
  const { status } = await app.request('/callbacks/cb-1/dismiss', { method: 'POST', headers });
  return { status, done, logged };
}

it('what is done has its answer, though its status can’t be noted', async () => {
  expect(await ask('operator', ['updateOne'])).toMatchObject({
    status: 200,
    done: 1,
    logged: [{ operation: 'POST /callbacks/{id}/dismiss', operator: 'ama', status: 200 }],
  });
});

it('what is refused has its answer, though it can’t be kept', async () => {
  expect(await ask('viewer', ['insertOne'])).toMatchObject({
    status: 403,
    done: 0,
    logged: [{ status: 403 }],
  });
});

it('what can’t be kept is not done', async () => {
  expect(await ask('operator', ['insertOne'])).toEqual({ status: 503, done: 0, logged: [] });
});

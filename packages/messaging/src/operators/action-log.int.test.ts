import { createHash } from 'node:crypto';
import { breakChanges, cancellationOperations } from '@pesewa/contracts';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { createLogger, createOperators, guardOperator, refused, serveOperations } from '@pesewa/runtime';
import { Hono } from 'hono';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { databaseSchemaOf, ensureDatabaseSchema } from '../database/schema.ts';
import { keepActions } from './action-log.ts';

const client = new MongoClient(process.env['MONGODB_URL'] ?? '', { useBigInt64: true });
const db = client.db(`actions-test-${process.pid}`);

beforeAll(async () => {
  await client.connect();
});
beforeEach(async () => {
  await db.dropDatabase();
  await ensureDatabaseSchema(db, databaseSchemaOf([]));
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

const logger = createLogger({ name: 'test', level: 'silent' });
const { cancel } = cancellationOperations;
const { notes } = breakChanges;

/** A service that counts what is done, and how many actions were kept when it was. */
function open() {
  const done: number[] = [];
  const routes = new Hono();
  keepActions(routes, { db, clock: systemClock, ids: createIds(systemClock, systemRandom), logger });
  const note = async () => {
    done.push(await db.collection('operator_actions').countDocuments());
  };
  serveOperations(
    routes,
    { cancel, notes },
    {
      cancel: async ({ body: { reference } }) => {
        await note();
        if (reference === 'po-broken') throw new Error('broken');
        return refused('ended', 'too late');
      },
      notes: async ({ body: { text } }) => {
        await note();
        return text === 'x' ? refused('resolved', 'it is resolved') : refused('not_found', 'none');
      },
    },
  );
  routes.onError((_, context) => context.text('broken', 500));
  const named = ['ama', 'kofi'].map((name) => ({
    name,
    role: 'operator' as const,
    tokenHash: createHash('sha256').update(`token-of-${name}`).digest(),
  }));
  const app = guardOperator(routes, createOperators('the-token-of-nobody', named));
  const ask = async (by: string, path: string, given?: object) => {
    const headers = { authorization: `Bearer token-of-${by}`, 'content-type': 'application/json' };
    const init = given === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(given) };
    return app.request(path, init);
  };
  const actions = async (query = '') => {
    const listed = (await (await ask('ama', `/actions${query}`)).json()) as { items: readonly object[] };
    return listed.items;
  };
  return { ask, actions, done };
}

const text = 'never kept';

it('an action is kept before it is done, with its answer, and found by who did it and by what it was about', async () => {
  const { ask, actions, done } = open();
  await ask('ama', '/breaks/br-1/notes', { text, version: 1 });
  await ask('kofi', '/payments/cancel', { reference: 'order-7', merchant: 'demo' });
  expect(done).toEqual([1, 2]);
  expect(await actions()).toMatchObject([
    { operator: 'kofi', operation: 'POST /payments/cancel', objects: ['order-7', 'demo'], status: 409 },
    { operator: 'ama', operation: 'POST /breaks/{id}/notes', objects: ['br-1'], status: 404 },
  ]);
  expect(await actions('?operator=ama')).toMatchObject([{ operator: 'ama' }]);
  for (const object of ['order-7', 'demo'])
    expect(await actions(`?object=${object}`)).toMatchObject([{ operator: 'kofi' }]);
  expect(await actions('?operator=ama&object=demo')).toEqual([]);
  expect(JSON.stringify(await db.collection('operator_actions').find().toArray())).not.toContain(text);
});

it('is found by its time, page by page', async () => {
  const { ask, actions } = open();
  const log = db.collection<{ readonly _id: string }>('operator_actions');
  const minute = (number: number) => new Date(Date.UTC(2026, 0, 2, 3, number));
  const kept = { operator: 'ama', operation: 'POST /x', objects: ['po-1'], status: 200 };
  await log.insertMany(
    [0, 1, 2, 3, 4].map((number) => ({ _id: `ac-${number}`, at: minute(number), ...kept })),
  );
  const period = `from=${minute(1).toISOString()}&to=${minute(4).toISOString()}`;
  expect(await actions(`?${period}`)).toMatchObject([{ id: 'ac-3' }, { id: 'ac-2' }, { id: 'ac-1' }]);
  for (const more of ['', '&operator=ama', '&object=po-1'])
    expect(await actions(`?${period}&cursor=${minute(3).getTime()}.ac-3${more}`)).toMatchObject([
      { id: 'ac-2' },
      { id: 'ac-1' },
    ]);
  const refused = await ask('ama', '/actions?from=yesterday');
  expect(await refused.text()).toContain('from must be a time');
});

it('what only looks, and a dry run, is no action', async () => {
  const { ask, actions, done } = open();
  await ask('ama', '/payments/cancel', { reference: 'po-1', dryRun: true });
  expect([done, await actions()]).toEqual([[0], []]);
});

it('what breaks has no status, because it may have taken effect', async () => {
  const { ask, actions } = open();
  expect((await ask('ama', '/payments/cancel', { reference: 'po-broken' })).status).toBe(500);
  expect(await actions()).toMatchObject([{ objects: ['po-broken'], status: null }]);
});

it('is not done if it can’t be kept', async () => {
  const { ask, done } = open();
  await db.dropCollection('operator_actions');
  await db.createCollection('operator_actions', { validator: { never: true } });
  expect((await ask('ama', '/payments/cancel', { reference: 'po-1' })).status).toBe(500);
  expect(done).toEqual([]);
});

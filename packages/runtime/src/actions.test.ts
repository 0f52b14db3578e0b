import { createHash } from 'node:crypto';
import { approvesField, declareOperations, line, smallNumber } from '@pesewa/contracts';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type Action, setRecorder } from './actions.ts';
import { guardOperator } from './operations.ts';
import { createOperators } from './operators.ts';
import { answer, serveOperations } from './serve-operations.ts';

const answers = { 200: z.object({}) };
const operations = declareOperations({
  change: {
    method: 'post',
    path: '/things/{id}/change',
    summary: '',
    caller: 'secondIfApproves',
    query: z.object({ sha256: z.string().max(8).optional(), dryRun: z.literal('true').optional() }),
    body: z.strictObject({
      scope: z.string().optional(),
      breakId: z.string().optional(),
      to: z.string().optional(),
      partition: smallNumber.optional(),
      name: z.string().optional(),
      reason: line(20).optional(),
      approves: approvesField,
    }),
    answers,
  },
  configure: { method: 'put', path: '/things', summary: '', role: 'admin', answers },
});
const named = (['viewer', 'operator'] as const).map((role) => ({
  name: `a-${role}`,
  role,
  tokenHash: createHash('sha256').update(`token-of-${role}`).digest(),
}));

/** A service that keeps actions in memory: each as it was kept, with its status. */
function open() {
  const kept: (Action & { readonly status: number | null })[] = [];
  const routes = new Hono();
  routes.use(async (context, next) => {
    setRecorder(context, {
      begin: async (action) => {
        const at = kept.push({ ...action, status: null }) - 1;
        return async (status) => void kept.splice(at, 1, { ...action, status });
      },
      refused: async (action, status) => void kept.push({ ...action, status }),
    });
    await next();
  });
  const done = () => answer(200, {});
  serveOperations(routes, operations, { change: done, configure: done });
  const app = guardOperator(routes, createOperators('the-shared-token', named, false));
  const ask = async (role: string, method: string, path: string, body?: string) => {
    const headers = { authorization: `Bearer token-of-${role}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body !== undefined && { body }) };
    return (await app.request(path, init)).status;
  };
  return { ask, kept };
}

const operation = 'POST /things/{id}/change';
const path = '/things/th-1/change';

it('keeps what was asked for, by everything that names it', async () => {
  const { ask, kept } = open();
  const body = JSON.stringify({
    scope: 'all',
    breakId: 'po-1/status',
    to: 'end',
    partition: 3,
    reason: 'why',
  });
  expect(await ask('operator', 'POST', `${path}?sha256=abc`, body)).toBe(200);
  const objects = ['th-1', 'abc', 'all', 'po-1/status', 'partition 3', 'to end'];
  expect(kept).toEqual([{ operator: 'a-operator', operation, objects, status: 200 }]);
});

it.each<[string, string, string, number, readonly string[]]>([
  [
    'a role that is too small',
    'viewer',
    '{"breakId":"po-1/status","reason":"secret"}',
    403,
    ['th-1', 'po-1/status'],
  ],
  ['the role that an approval takes', 'operator', '{"approves":"kofi"}', 403, ['th-1', 'kofi']],
  ['a body that can’t be read', 'operator', '{"reason":', 400, ['th-1']],
  [
    'a field',
    'operator',
    '{"scope":"all","partition":3,"reason":"secret, and too long for it"}',
    400,
    ['th-1', 'all', 'partition 3'],
  ],
  ['a field that is no name', 'operator', '{"name":"Ama of the secret","by":"x"}', 400, ['th-1']],
])('keeps what was refused for %s, without its texts', async (_, role, body, status, objects) => {
  const { ask, kept } = open();
  expect(await ask(role, 'POST', path, body)).toBe(status);
  expect(kept).toEqual([{ operator: `a-${role}`, operation, objects, status }]);
  expect(JSON.stringify(kept)).not.toContain('secret');
});

it('keeps what was refused for its query, or has no body', async () => {
  const { ask, kept } = open();
  expect(await ask('operator', 'POST', `${path}?sha256=too-long-for-one`, '{}')).toBe(400);
  expect(await ask('operator', 'PUT', '/things')).toBe(403);
  expect(kept).toMatchObject([
    { objects: ['th-1', 'too-long-for-one'], status: 400 },
    { operation: 'PUT /things', objects: [], status: 403 },
  ]);
});

it('keeps no dry run, refused or not', async () => {
  const { ask, kept } = open();
  for (const role of ['operator', 'viewer']) await ask(role, 'POST', `${path}?dryRun=true`, '{}');
  expect(kept).toEqual([]);
});

import { createHash } from 'node:crypto';
import { approvesField, declareOperations, operatorRoles } from '@pesewa/contracts';
import { Hono } from 'hono';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseConfig } from './config.ts';
import { createHealth } from './health.ts';
import { createLogger } from './logger.ts';
import { createOperationsApp, guardOperator, mountOperator } from './operations.ts';
import {
  createOperators,
  mayBeOperator,
  operatorOf,
  operatorsProblem,
  operatorsSetting,
} from './operators.ts';
import { answer, serveOperations } from './serve-operations.ts';

/** Matches any text with this part. */
const containing = (part: string): unknown => expect.stringContaining(part);

const openOperations = () =>
  createOperationsApp({
    health: createHealth(),
    metrics: new Registry(),
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const read = (OPERATORS: string) => parseConfig(z.object({ OPERATORS: operatorsSetting }), { OPERATORS });
const ama = `ama:approver:${hashOf('token-of-ama')}`;
const kofi = `kofi-2:viewer:${hashOf('token-of-kofi')}`;

describe('the setting', () => {
  it('is a list of names and hashes, and may be absent', () => {
    expect(read(`${ama}, ${kofi}`).OPERATORS.map(({ name }) => name)).toEqual(['ama', 'kofi-2']);
    expect(read('').OPERATORS).toEqual([]);
  });

  it('names every problem at once by its place, and shows no token', () => {
    const twice = `kojo:admin:${hashOf('token-of-ama')}`;
    const refused = () =>
      read(
        `secret-token,${ama},Ama:admin:${'a'.repeat(64)},${ama},${twice},operator:admin:${'b'.repeat(64)}`,
      );
    expect(refused).toThrow(/5 problem\(s\)/);
    expect(refused).toThrow(/entry 1 must be name:role:hash/);
    expect(refused).toThrow(/entry 3 must be name:role:hash/);
    expect(refused).toThrow(/entry 4 names ama again/);
    expect(refused).toThrow(/entry 5 has the token of another entry/);
    expect(refused).toThrow(/entry 6 must not be called operator/);
    expect(refused).not.toThrow(/secret-token/);
  });

  it('refuses the hash of an empty token, which a script makes of a variable that is not set', () => {
    expect(() => read(`ama:admin:${hashOf('')}`)).toThrow(/entry 1 has the hash of an empty token/);
  });

  it('must not give the-main-token to anyone else', () => {
    const { OPERATORS } = read(ama);
    expect(operatorsProblem({ OPERATOR_TOKEN: 'token-of-ama', OPERATORS })).toContain('OPERATORS: ama has');
    expect(operatorsProblem({ OPERATOR_TOKEN: 'another-token', OPERATORS })).toBeUndefined();
  });
});

it('may be somebody of OPERATORS, in development whoever shares a token, and whom the issuer could have', () => {
  const { OPERATORS } = read(ama);
  const names = (config: object) => {
    const whole = { NODE_ENV: 'production', OPERATORS, ...config };
    return ['ama', 'kofi@example.com', 'Kofi', 'operator'].filter((name) => mayBeOperator(whole, name));
  };
  expect(names({})).toEqual(['ama']);
  expect(names({ NODE_ENV: 'development' })).toEqual(['ama', 'operator']);
  expect(names({ OPERATORS_ISSUER: 'https://login.example.com' })).toEqual(['ama', 'kofi@example.com']);
});

describe('the guard', () => {
  const operations = openOperations();
  operations.operator.get('/whoami', (context) => context.text(operatorOf(context)));
  mountOperator(operations, createOperators('the-main-token', read(`${ama},${kofi}`).OPERATORS));
  const ask = async (authorization?: string) => {
    const answer = await operations.app.request('/whoami', {
      headers: authorization ? { authorization } : {},
    });
    return [answer.status, await answer.text()];
  };

  it.each([
    ['the-main-token', 'operator'],
    ['token-of-ama', 'ama'],
    ['token-of-kofi', 'kofi-2'],
  ])('gives routes the name of the token’s owner: %s', async (token, name) => {
    expect(await ask(`Bearer ${token}`)).toEqual([200, name]);
  });

  it('answers 401 without a token and 403 for an unknown one', async () => {
    expect(await ask()).toEqual([401, containing('unauthenticated')]);
    expect(await ask('Bearer nobody')).toEqual([403, containing('forbidden')]);
    expect(await ask(`Bearer ${hashOf('token-of-ama')}`)).toEqual([403, containing('forbidden')]);
  });
});

describe('a role', () => {
  const operations = declareOperations({
    look: { method: 'get', path: '/things', summary: '', answers: { 200: z.object({}) } },
    act: { method: 'post', path: '/things', summary: '', answers: { 200: z.object({}) } },
    approve: {
      method: 'post',
      path: '/things/approve',
      summary: '',
      caller: 'second',
      answers: { 200: z.object({}) },
    },
    actOrApprove: {
      method: 'post',
      path: '/things/close',
      summary: '',
      caller: 'secondIfApproves',
      body: z.strictObject({ approves: approvesField }),
      answers: { 200: z.object({}) },
    },
    configure: { method: 'put', path: '/things', summary: '', role: 'admin', answers: { 200: z.object({}) } },
  });
  const routes = new Hono();
  const done = () => answer(200, {});
  serveOperations(routes, operations, {
    look: done,
    act: done,
    approve: done,
    actOrApprove: done,
    configure: done,
  });
  const entries = operatorRoles.map((role) => `a-${role}:${role}:${hashOf(`token-of-${role}`)}`);
  const app = guardOperator(routes, createOperators('the-main-token', read(entries.join()).OPERATORS, false));
  const ask = async (token: string, method: string, path: string) =>
    (await app.request(path, { method, headers: { authorization: `Bearer ${token}` } })).status;

  it.each([
    ['viewer', [200, 403, 403, 403]],
    ['operator', [200, 200, 403, 403]],
    ['approver', [200, 200, 200, 403]],
    ['admin', [200, 200, 200, 200]],
  ] as const)('%s may look, act, approve, and change settings: %j', async (role, statuses) => {
    const token = `token-of-${role}`;
    expect([
      await ask(token, 'GET', '/things'),
      await ask(token, 'POST', '/things'),
      await ask(token, 'POST', '/things/approve'),
      await ask(token, 'PUT', '/things'),
    ]).toEqual(statuses);
    const caller = await app.request('/operator', { headers: { authorization: `Bearer ${token}` } });
    expect(await caller.json()).toEqual({ name: `a-${role}`, role });
  });

  it.each([
    ['viewer', [403, 403, 403]],
    ['operator', [200, 403, 400]],
    ['approver', [200, 200, 400]],
  ] as const)('%s may propose, or approve what the body names: %j', async (role, statuses) => {
    const headers = { authorization: `Bearer token-of-${role}`, 'content-type': 'application/json' };
    const close = async (body: object) =>
      (await app.request('/things/close', { method: 'POST', headers, body: JSON.stringify(body) })).status;
    expect([await close({}), await close({ approves: 'kofi' }), await close({ other: 1 })]).toEqual(statuses);
  });

  it('says which one is lacking, and the remedy', async () => {
    const asked = (token: string) =>
      app.request('/things', { method: 'PUT', headers: { authorization: `Bearer ${token}` } });
    expect(await (await asked('token-of-approver')).json()).toEqual({
      code: 'role_required',
      message: 'this takes the role admin, and a-approver is approver: ask one who has it',
    });
    expect(await (await asked('the-main-token')).json()).toMatchObject({
      message: containing('use the token of an operator of OPERATORS'),
    });
  });
});

describe('what is not a GET', () => {
  const open = (sharedMayAct: boolean) => {
    const logged: object[] = [];
    const routes = new Hono();
    const redrive = { path: '/callbacks/{id}/redrive', summary: '', answers: { 202: z.object({}) } } as const;
    const operations = {
      look: { ...redrive, method: 'get' },
      post: { ...redrive, method: 'post' },
      put: { ...redrive, method: 'put' },
      remove: { ...redrive, method: 'delete' },
    } as const;
    const done = () => answer(202, {});
    serveOperations(routes, operations, { look: done, post: done, put: done, remove: done });
    const operators = createOperators('the-main-token', read(ama).OPERATORS, sharedMayAct);
    const app = guardOperator(routes, operators, {
      info: (fields: object) => {
        logged.push(fields);
      },
    });
    const ask = async (method: string, token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await app.request('/callbacks/cb-1/redrive', { method, headers })).status;
    };
    return { ask, logged };
  };

  it.each(['POST', 'PUT', 'DELETE'])(
    'is refused to the shared token, done for a named operator, and logged: %s',
    async (method) => {
      const { ask, logged } = open(false);
      expect(await ask(method, 'the-main-token')).toBe(403);
      expect(await ask(method, 'token-of-ama')).toBe(202);
      const request = { method, path: '/callbacks/cb-1/redrive' };
      expect(logged).toEqual([
        { operator: 'operator', ...request, status: 403 },
        { operator: 'ama', ...request, status: 202 },
      ]);
    },
  );

  it('is for the shared token too in development; looking is for all, and not logged', async () => {
    const { ask, logged } = open(true);
    expect(await ask('POST', 'the-main-token')).toBe(202);
    expect(logged).toMatchObject([{ operator: 'operator' }]);
    expect(await open(false).ask('GET', 'the-main-token')).toBe(202);
    expect(await ask('GET', 'token-of-ama')).toBe(202);
    expect(logged).toHaveLength(1);
  });
});

it('what is no bearer token is not even compared', async () => {
  const operations = openOperations();
  operations.operator.get('/whoami', (context) => context.text(operatorOf(context)));
  const tokenHash = Uint8Array.from(Buffer.from(hashOf(''), 'hex'));
  mountOperator(
    operations,
    createOperators('the-main-token', [{ name: 'nobody', role: 'approver', tokenHash }]),
  );
  for (const authorization of ['Bearer', 'Bearer ', 'Basic the-main-token', 'the-main-token']) {
    expect((await operations.app.request('/whoami', { headers: { authorization } })).status).toBe(403);
  }
});

it('a route outside the guard has no operator', async () => {
  const operations = openOperations();
  operations.operator.onError((error, context) => context.text(error.message, 500));
  operations.operator.get('/whoami', (context) => context.text(operatorOf(context)));
  expect((await operations.operator.request('/whoami')).status).toBe(500);
});

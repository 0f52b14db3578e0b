import { type Operations, operatorApis } from '@pesewa/contracts';
import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import { createHealth } from './health.ts';
import { createLogger } from './logger.ts';
import { createOperationsApp, mountOperator, serveOperatorDocument } from './operations.ts';
import { buildOperatorDocument } from './operator-document.ts';
import { createOperators } from './operators.ts';

vi.mock(import('./operator-document.ts'), { spy: true });

const TOKEN = 'the-main-token-of-tests';

/** Calls a route that fails; gives the answer and the log. */
async function breakBy(error: Error) {
  const lines: string[] = [];
  const operations = createOperationsApp({
    health: createHealth(),
    metrics: new Registry(),
    logger: createLogger({ name: 'test', level: 'info' }, { write: (line) => void lines.push(line) }),
  });
  operations.operator.get('/things/:id', () => Promise.reject(error));
  mountOperator(operations, createOperators(TOKEN));
  const answer = await operations.app.request('/things/7', { headers: { authorization: `Bearer ${TOKEN}` } });
  return { status: answer.status, body: await answer.json(), logged: lines.join('') };
}

const named = (name: string, message: string) => Object.assign(new Error(message), { name });

it('answers an unexpected error as JSON, and logs it once without what drivers put on their errors', async () => {
  const stderr = vi.spyOn(console, 'error');
  const error = Object.assign(new Error('E11000 dup key: { number: 0712345678 }'), {
    document: '0712345678',
  });
  const { status, body, logged } = await breakBy(error);
  expect([status, body]).toEqual([500, { code: 'broken', message: 'this broke: the log has why' }]);
  expect(logged.trim().split('\n')).toHaveLength(1);
  expect(logged).toContain('an operations request failed');
  expect(logged).not.toContain('0712345678');
  expect(stderr).not.toHaveBeenCalled();
  stderr.mockRestore();
});

it.each([
  'MongoNetworkError',
  'MongoServerSelectionError',
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedError',
])('answers 503 where it passes: %s', async (name) => {
  expect(await breakBy(named(name, 'no primary'))).toMatchObject({
    status: 503,
    body: { code: 'unavailable' },
  });
});

it('operator requests end: those in progress are awaited, others are refused, and probes go on', async () => {
  const operations = createOperationsApp({
    health: createHealth(),
    metrics: new Registry(),
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  const inProgress = Promise.withResolvers<void>();
  operations.operator.get('/slow', async (context) => {
    await inProgress.promise;
    return context.text('done');
  });
  const requests = mountOperator(operations, createOperators(TOKEN));
  const ask = async (path: string) =>
    operations.app.request(path, { headers: { authorization: `Bearer ${TOKEN}` } });
  const slow = ask('/slow');
  const ended = vi.fn<() => void>();
  const ending = Promise.resolve(requests[Symbol.asyncDispose]()).then(ended);
  const refused = await ask('/slow');
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { code: 'unavailable', message: 'this process is ending: try again' },
  ]);
  expect((await ask('/livez')).status).toBe(200);
  expect(ended).not.toHaveBeenCalled();
  inProgress.resolve();
  expect(await (await slow).text()).toBe('done');
  await ending;
});

it.each(Object.entries(operatorApis))(
  'serves the OpenAPI document of %s to operators, and builds it once',
  async (service, api) => {
    const logger = createLogger({ name: 'test', level: 'fatal' });
    const operations = createOperationsApp({ health: createHealth(), metrics: new Registry(), logger });
    serveOperatorDocument(operations, service);
    mountOperator(operations, createOperators(TOKEN));
    expect((await operations.app.request('/openapi.json')).status).toBe(401);
    const headers = { authorization: `Bearer ${TOKEN}` };
    await operations.app.request('/openapi.json', { headers });
    const answer = await operations.app.request('/openapi.json', { headers });
    expect(answer.status).toBe(200);
    expect(vi.mocked(buildOperatorDocument).mock.calls.filter(([name]) => name === service)).toHaveLength(1);
    const { openapi, paths } = (await answer.json()) as { openapi: string; paths: Record<string, object> };
    expect(openapi).toBe('3.1.0');
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const declared = Object.values<Operations>(api).flatMap((part) =>
      Object.values(part).map(({ method, path }) => `${method} ${path}`),
    );
    expect(documented.toSorted()).toEqual(declared.toSorted());
  },
);

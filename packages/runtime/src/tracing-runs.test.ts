import { systemClock } from '@pesewa/kernel';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { openCollector } from './collector.fixture.ts';
import { createHealth } from './health.ts';
import { serveHttp } from './http.ts';
import { createLogger } from './logger.ts';
import { createOperationsApp, mountOperator } from './operations.ts';
import { createOperators } from './operators.ts';
import { createRequestMeter } from './requests.ts';
import { beginRound, inClientSpan, inRunSpan } from './spans.ts';
import { startTracing, tracingSettings } from './tracing.ts';

const TOKEN = 'the-main-token-of-tests';

/** The operations side of a service, on a port of its own, as a process serves it. */
async function openOperations() {
  const operations = createOperationsApp({
    health: createHealth(),
    metrics: new Registry(),
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  operations.operator.get('/things/:id', (context) => context.text('thing'));
  operations.operator.post('/things', () => Promise.reject(new Error('what a person wrote')));
  mountOperator(operations, createOperators(TOKEN));
  const requests = { ...createRequestMeter(new Registry()), isTraced: false };
  const server = await serveHttp({ app: operations.app, host: '127.0.0.1', port: 0, requests });
  const ask = async (path: string, method = 'GET', token = TOKEN) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers })).status;
  };
  return { server, ask };
}

// One test: a process starts tracing once.
it("records operators' requests and runs of timed work, and neither probes nor who has no token", async () => {
  const collector = await openCollector();
  const config = tracingSettings.parse({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
  const tracing = await startTracing({
    service: 'test',
    config,
    metrics: new Registry(),
    clock: systemClock,
  });
  const { server, ask } = await openOperations();
  const statuses = [
    await ask('/things/secret'),
    await ask('/things', 'POST'),
    await ask('/things/secret', 'GET', 'wrong'),
  ];
  expect(statuses).toEqual([200, 500, 403]);
  for (const path of ['/livez', '/readyz', '/metrics']) await ask(path);
  await inRunSpan('comparison', () =>
    inClientSpan(
      'a call',
      {},
      async () => 'done',
      () => undefined,
    ),
  );
  const broken = inRunSpan('audit', () => Promise.reject(new Error('what a person wrote')));
  await expect(broken).rejects.toThrow('what a person wrote');
  let nowMs = 1_700_000_000_000;
  const clock = { nowMs: () => (nowMs += 250) };
  const [round, empty] = [beginRound('sweeper', clock), beginRound('eraser', clock)];
  for (const items of [3, 0, 4]) round.processed(items);
  empty.processed(0);
  for (const one of [round, empty]) one.end();
  await server[Symbol.asyncDispose]();
  await tracing?.[Symbol.asyncDispose]();
  collector.close();

  const ERROR = { code: 2 };
  expect(collector.spans).toMatchObject([
    { name: 'GET /things/:id', kind: 2 },
    { name: 'POST /things', kind: 2, status: ERROR },
    { name: 'a call', kind: 3, parentSpanId: collector.spans[3]?.spanId },
    { name: 'run comparison', kind: 1 },
    { name: 'run audit', kind: 1, status: ERROR },
    {
      name: 'run sweeper',
      kind: 1,
      startTimeUnixNano: '1700000000250000000',
      endTimeUnixNano: '1700000001250000000',
    },
  ]);
  expect(collector.spans).toHaveLength(6);
  const attributes = collector.spans.map((span) =>
    Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  );
  expect(attributes).toEqual([
    { 'http.request.method': 'GET', 'http.route': '/things/:id', 'http.response.status_code': 200 },
    { 'http.request.method': 'POST', 'http.route': '/things', 'http.response.status_code': 500 },
    {},
    {},
    {},
    { 'pesewa.items': 7 },
  ]);
  // Neither what is in a path, nor who asks, nor what people have written.
  expect(JSON.stringify(collector.spans)).not.toMatch(/secret|operator|person/);
});

import { systemClock } from '@pesewa/kernel';
import { Hono } from 'hono';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { openCollector } from './collector.fixture.ts';
import { addErrorHandling, answerJson, serveHttp } from './http.ts';
import { createLogger } from './logger.ts';
import { createRequestMeter } from './requests.ts';
import { currentTraceparent, inClientSpan, inTraceOf, recordApplied } from './spans.ts';
import { startTracing, tracingSettings } from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;

/** An app that answers with the trace of its request, on a port of its own. */
async function openApp(registry: Registry) {
  const app = new Hono();
  addErrorHandling(app, {
    logger: createLogger({ name: 'test', level: 'silent' }),
    broken: (context) => answerJson(context, 500, {}),
    notFound: (context) => answerJson(context, 404, {}),
  });
  app.get('/things/:id', (context) =>
    context.text(currentTraceparent(context.req.header('traceparent')) ?? 'none'),
  );
  const server = await serveHttp({
    app,
    host: '127.0.0.1',
    port: 0,
    requests: createRequestMeter(registry),
  });
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${server.port}/things/secret`, { headers })).text();
  return { server, ask };
}

// This is one test, because a process starts tracing only once and what comes before must be checked without it.
it('records nothing without an endpoint; with one, requests, messages and calls become parts of their traces', async () => {
  const registry = new Registry();
  const { server, ask } = await openApp(new Registry());
  const off = { service: 'test', config: tracingSettings.parse({}), metrics: registry, clock: systemClock };
  expect(await startTracing(off)).toBeUndefined();
  expect(await ask({ traceparent: SAMPLED })).toBe(SAMPLED);
  expect(await ask({})).toBe('none');

  const collector = await openCollector();
  const config = tracingSettings.parse({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/` });
  const tracing = await startTracing({ ...off, config });
  const passedOn = await ask({ traceparent: SAMPLED });
  expect(passedOn).toMatch(new RegExp(`^00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-01$`));
  expect(await ask({ traceparent: `00-${TRACE}-${PARENT}-00` })).toMatch(
    new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`),
  );
  expect(await ask({})).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const place = { topic: 'payouts.events.v1', partition: 3, group: 'ledger' };
  const messages = [
    { type: 'first', eventId: 'ev-1', traceparent: passedOn },
    { type: 'unsampled', eventId: 'ev-2', traceparent: `00-${TRACE}-${PARENT}-00` },
    { type: 'second', eventId: 'ev-3', traceparent: passedOn },
    { type: 'untraced', eventId: 'ev-4' },
  ];
  recordApplied(place, messages, { fromMs: 1_700_000_000_000, toMs: 1_700_000_000_250 });
  await inTraceOf(passedOn, () =>
    inClientSpan(
      'a call',
      { 'pesewa.rail': 'upstream' },
      async () => 'done',
      () => undefined,
    ),
  );
  await tracing?.[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  collector.close();

  const ofTrace = collector.spans.filter(({ traceId }) => traceId === TRACE);
  const [request, first, second, call] = ofTrace;
  expect(ofTrace).toMatchObject([
    { name: 'GET /things/:id', kind: 2, parentSpanId: PARENT },
    { name: 'apply first', kind: 5, parentSpanId: request?.spanId, startTimeUnixNano: '1700000000000000000' },
    { name: 'apply second', kind: 5, parentSpanId: request?.spanId, links: [{ spanId: first?.spanId }] },
    { name: 'a call', kind: 3, parentSpanId: request?.spanId },
  ]);
  expect([first?.links ?? [], second?.links?.length, call?.links ?? []]).toEqual([[], 1, []]);
  expect(collector.spans).toHaveLength(5);
  expect(JSON.stringify(collector.spans)).not.toContain('secret');
  expect(await registry.metrics()).toContain('trace_spans_total{outcome="exported"} 5');
});

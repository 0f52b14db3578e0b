import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@pesewa/kernel';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { recordApplied } from './spans.ts';
import { startTracing, tracingSettings } from './tracing.ts';

const BATCH = 512;
const QUEUE = 8_192;

const place = { topic: 'payouts.events.v1', partition: 3, group: 'ledger' };
const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
const message = { type: 'pesewa.payouts.PayoutAccepted', eventId: 'ev-1', traceparent };

it('counts the spans that a collector did not take and those that had no room, and does not wait for it at the end', async () => {
  const asked: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    asked.push(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const metrics = new Registry();
  const tracing = await startTracing({
    service: 'test',
    config: tracingSettings.parse({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }),
    metrics,
    // Sleeping on this clock takes no time, so anything slow exceeds its limit.
    clock: { ...systemClock, sleep: async () => undefined },
  });
  recordApplied(
    place,
    Array.from({ length: BATCH + QUEUE + 7 }, () => message),
    { fromMs: 1_700_000_000_000, toMs: 1_700_000_000_250 },
  );
  const count = async (outcome: string) =>
    Number(
      new RegExp(`trace_spans_total\\{outcome="${outcome}"\\} (\\d+)`).exec(await metrics.metrics())?.[1],
    );
  await expect.poll(() => asked.length).toBe(1);
  expect(await count('dropped')).toBe(7);
  asked[0]?.writeHead(400).end();
  await expect.poll(() => count('failed')).toBe(BATCH);
  // The next batch is in flight and never answered.
  await tracing?.[Symbol.asyncDispose]();
  expect(await count('exported')).toBe(0);
  server.closeAllConnections();
  server.close();
});

import {
  context,
  createNoopMeter,
  type Meter,
  type MeterProvider,
  propagation,
  trace,
} from '@opentelemetry/api';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, type Registry } from 'prom-client';
import { z } from 'zod';

/** Where spans go and which are recorded; named as in OpenTelemetry. */
export const tracingSettings = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('collector of spans (OTLP over HTTP, `/v1/traces` is added); without it none are recorded'),
  OTEL_TRACES_SAMPLER: z
    .enum(['parentbased_traceidratio', 'traceidratio'])
    .default('parentbased_traceidratio')
    .describe('whether clients decide with their `traceparent` which of their requests are recorded'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('share of the traces that are recorded if the client does not decide'),
});

const QUEUE_SPANS_MAX = 8_192;
const EXPORT_EVERY_MS = 1_000;
const EXPORT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 3_000;

/** Records spans from now on, if there is an endpoint; without one the SDK is not even loaded. */
export async function startTracing(options: {
  readonly service: string;
  readonly config: z.output<typeof tracingSettings>;
  readonly metrics: Registry;
  readonly clock: Pick<Clock, 'sleep'>;
}): Promise<AsyncDisposable | undefined> {
  const { config, clock } = options;
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const [sdk, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, { resourceFromAttributes }, core] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/core'),
    ]);
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const ratio = new sdk.TraceIdRatioBasedSampler(config.OTEL_TRACES_SAMPLER_ARG);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': options.service }),
    sampler:
      config.OTEL_TRACES_SAMPLER === 'traceidratio' ? ratio : new sdk.ParentBasedSampler({ root: ratio }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_SPANS_MAX,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        selfObsMeterProvider: countSpans(options.metrics),
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    [Symbol.asyncDispose]: async () => {
      // Spans that an absent collector has not received by then are lost, because payments must not wait for it.
      await withDeadline(provider.shutdown(), CLOSE_TIMEOUT_MS, clock).catch(() => undefined);
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}

/** Registers `trace_spans_total`; gives the meter by which the span processor counts. */
function countSpans(registry: Registry): MeterProvider {
  const spans = new Counter({
    name: 'trace_spans_total',
    help: 'Recorded spans: exported, failed (the collector did not take them), dropped (the queue was full).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['exported', 'failed', 'dropped']) spans.inc({ outcome }, 0);
  // A copy, because the whole process shares that meter.
  const meter = Object.create(createNoopMeter()) as Meter;
  meter.createCounter = () => ({
    add: (count, attributes) => {
      const error = attributes?.['error.type'];
      const outcome = error === undefined ? 'exported' : error === 'queue_full' ? 'dropped' : 'failed';
      spans.inc({ outcome }, count);
    },
  });
  return { getMeter: () => meter };
}

import {
  type Attributes,
  context as active,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Context as TraceContext,
  trace,
} from '@opentelemetry/api';
import type { Clock } from '@pesewa/kernel';
import type { Context } from 'hono';

// Records nothing, at the cost of a few calls, until `startTracing` has found an endpoint.
const tracer = () => trace.getTracer('pesewa');

/** The context of a `traceparent`; the root context if there is none. */
function contextOf(traceparent: string | undefined): TraceContext {
  return traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
}

/** Runs work as part of the trace of a payment or a message. */
export function inTraceOf<Value>(traceparent: string | undefined, work: () => Value): Value {
  return active.with(contextOf(traceparent), work);
}

/** The `traceparent` of the current span; the given one if no spans are recorded. */
export function currentTraceparent(otherwise: string | undefined): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(active.active(), carrier);
  return carrier.traceparent ?? otherwise;
}

/** Runs a request in a span that continues the client's trace. */
export async function inServerSpan(
  context: Context,
  route: string,
  next: () => Promise<void>,
  statusOf: (context: Context) => number | 'aborted',
): Promise<void> {
  const parent = contextOf(context.req.header('traceparent'));
  const { method } = context.req;
  const attributes = { 'http.request.method': method, 'http.route': route };
  const span = tracer().startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
  try {
    await active.with(trace.setSpan(parent, span), next);
    const status = statusOf(context);
    if (status === 'aborted') span.setAttribute('error.type', status);
    else span.setAttribute('http.response.status_code', status);
    if (status !== 'aborted' && status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  } finally {
    span.end();
  }
}

/** Makes an outgoing call in a span; `end` records its outcome. */
export async function inClientSpan<Value>(
  name: string,
  attributes: Attributes,
  call: () => Promise<Value>,
  end: (value: Value, span: Pick<Span, 'setAttribute' | 'setStatus'>) => void,
): Promise<Value> {
  const span = tracer().startSpan(name, { kind: SpanKind.CLIENT, attributes });
  try {
    const value = await active.with(trace.setSpan(active.active(), span), call);
    end(value, span);
    return value;
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Runs work that the clock has called for within a span, which begins a trace of its own. */
export async function inRunSpan(name: string, run: () => Promise<unknown>): Promise<void> {
  const span = tracer().startSpan(`run ${name}`, {}, ROOT_CONTEXT);
  try {
    await active.with(trace.setSpan(ROOT_CONTEXT, span), run);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Says that work has been done on so many items; 0 is none. */
export type ReportProcessed = (items: number) => void;

/** Begins a round of work; its end records a span, which is a trace of its own, if anything was done. */
export function beginRound(
  name: string,
  clock: Pick<Clock, 'nowMs'>,
): { readonly processed: ReportProcessed; readonly end: () => void } {
  const startTime = clock.nowMs();
  let items = 0;
  let endTime = startTime;
  return {
    processed: (more) => {
      items += more;
      endTime = clock.nowMs();
    },
    end: () => {
      if (items === 0) return;
      const options = { attributes: { 'pesewa.items': items }, startTime };
      tracer().startSpan(`run ${name}`, options, ROOT_CONTEXT).end(endTime);
    },
  };
}

/** A message that was applied. */
export interface AppliedMessage {
  readonly type: string;
  readonly eventId: string;
  readonly traceparent?: string | undefined;
}

/** Whether the trace is recorded, by the flags of its `traceparent`. */
const SAMPLED = /[13579bdf]$/;

/**
 * Records a span for each message that was applied, as part of the message's own trace. All are linked to the first
 * one, because they shared its transaction.
 */
export function recordApplied(
  place: { readonly topic: string; readonly partition: number; readonly group: string },
  messages: readonly AppliedMessage[],
  time: { readonly fromMs: number; readonly toMs: number },
): void {
  let first: Span | undefined;
  for (const { type, eventId, traceparent } of messages) {
    if (traceparent === undefined || !SAMPLED.test(traceparent)) continue;
    const attributes = {
      'messaging.system': 'kafka',
      'messaging.destination.name': place.topic,
      'messaging.destination.partition.id': String(place.partition),
      'messaging.consumer.group.name': place.group,
      'messaging.message.id': eventId,
      'messaging.batch.message_count': messages.length,
    };
    const options = {
      kind: SpanKind.CONSUMER,
      attributes,
      startTime: time.fromMs,
      links: first ? [{ context: first.spanContext() }] : [],
    };
    const span = tracer().startSpan(`apply ${type}`, options, contextOf(traceparent));
    span.end(time.toMs);
    first ??= span;
  }
}

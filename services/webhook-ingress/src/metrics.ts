import type { PaymentKind } from '@pesewa/contracts';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { CallbackStore } from './store.ts';

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MS_PER_SECOND = 1_000;
const READ_TIMEOUT_MS = 1_000;

/** The metrics of callbacks. */
export type CallbackMetrics = ReturnType<typeof createMetrics>;

/** Registers the metrics of callbacks. */
export function createMetrics(registry: Registry) {
  const callbacks = new Counter({
    name: 'callbacks_total',
    help: 'Callbacks by rail, kind and result; rejected ones also by reason.',
    labelNames: ['rail', 'kind', 'result', 'reason'],
    registers: [registry],
  });
  const durable = new Histogram({
    name: 'callback_durable_seconds',
    help: 'Time from the last byte of a callback until it is durable.',
    labelNames: ['rail', 'kind'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return {
    /** Counts an answered callback; `reason` is empty except for rejected ones. */
    answered: (labels: Readonly<Record<'rail' | 'kind' | 'result' | 'reason', string>>) =>
      callbacks.inc(labels),
    /** Records the time from a callback's last byte until it was durable, in milliseconds. */
    durableAfter: ({ rail, kind }: { readonly rail: string; readonly kind: PaymentKind }, ms: number) =>
      durable.observe({ rail, kind }, ms / MS_PER_SECOND),
  };
}

/** Registers the gauge of callbacks that wait to be read; NaN if the database does not answer. */
export function gaugeFailed(options: {
  readonly store: Pick<CallbackStore, 'countFailed'>;
  readonly registry: Registry;
  readonly clock: Clock;
}): void {
  const gauge: Gauge = new Gauge({
    name: 'callbacks_failed',
    help: 'Callbacks that are stored as failed and wait to be read again; 10,000 means at least as many.',
    registers: [options.registry],
    collect: async () => {
      const counted = withDeadline(options.store.countFailed(), READ_TIMEOUT_MS, options.clock);
      gauge.set(await counted.catch(() => Number.NaN));
    },
  });
}

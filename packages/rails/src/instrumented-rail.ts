import type { Clock } from '@pesewa/kernel';
import { inClientSpan } from '@pesewa/runtime';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Circuit } from './guard.ts';
import type { Rail } from './rail.ts';

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const circuits: readonly Circuit[] = ['closed', 'half_open', 'open'];

/** Measures calls to rails. */
type RailMetrics = ReturnType<typeof createRailMetrics>;

/** Registers `rail_call_seconds` and `rail_circuit_state`. */
export function createRailMetrics(registry: Registry) {
  const watched = new Map<string, () => Circuit>();
  const calls = new Histogram({
    name: 'rail_call_seconds',
    help: 'Duration of calls to rails, including the wait in the queue, by rail, operation and result; ourFault is a refusal for our key, funds or limit.',
    labelNames: ['rail', 'operation', 'result'],
    buckets: SECONDS,
    registers: [registry],
  });
  const states = new Gauge({
    name: 'rail_circuit_state',
    help: 'State of the circuit breaker of a rail in this process: 1 for its present state, 0 for the others.',
    labelNames: ['rail', 'state'],
    registers: [registry],
    collect: () => {
      for (const [rail, circuit] of watched)
        for (const state of circuits) states.set({ rail, state }, circuit() === state ? 1 : 0);
    },
  });
  return {
    /** Exports the state of a rail's circuit breaker at each scrape. */
    watch: (rail: string, circuit: () => Circuit) => void watched.set(rail, circuit),
    called: (
      {
        rail,
        operation,
        result,
      }: { readonly rail: string; readonly operation: string; readonly result: string },
      durationMs: number,
    ) => calls.observe({ rail, operation, result }, durationMs / 1_000),
  };
}

/** A rail whose calls are measured and traced, each as part of the current trace. */
export function instrumentRail(
  rail: Rail,
  { metrics, clock }: { readonly metrics: RailMetrics | undefined; readonly clock: Pick<Clock, 'nowMs'> },
): Rail {
  async function observe<Result extends { readonly kind: string }>(
    operation: string,
    call: () => Promise<Result>,
    reference?: string,
  ): Promise<Result> {
    const startedAtMs = clock.nowMs();
    const attributes = {
      'pesewa.rail': rail.name,
      'pesewa.operation': operation,
      ...(reference !== undefined && { 'pesewa.reference': reference }),
    };
    const result = await inClientSpan(`rail ${operation}`, attributes, call, ({ kind }, span) => {
      span.setAttribute('pesewa.result', kind);
    });
    const durationMs = clock.nowMs() - startedAtMs;
    const outcome = 'isOurFault' in result ? 'ourFault' : result.kind;
    metrics?.called({ rail: rail.name, operation, result: outcome }, durationMs);
    return result;
  }
  const { payouts, collections } = rail;
  return {
    ...rail,
    payouts: payouts && {
      ...payouts,
      submit: (order) => observe('submit_payout', () => payouts.submit(order), order.reference),
      lookUp: (query) => observe('look_up_payout', () => payouts.lookUp(query), query.reference),
      processors: (country) => observe('processors', () => payouts.processors(country)),
      enquireName: (query) => observe('enquire_name', () => payouts.enquireName(query)),
    },
    collections: collections && {
      ...collections,
      initiate: (order) => observe('initiate_collection', () => collections.initiate(order), order.reference),
      complete: (order) => observe('complete_collection', () => collections.complete(order), order.reference),
      check: (query) => observe('check_collection', () => collections.check(query), query.reference),
    },
    balances: () => observe('balances', rail.balances),
  };
}

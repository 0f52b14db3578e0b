import { collectionRefusals, findMobileOperator } from '@pesewa/contracts';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { CollectionStore } from './store.ts';

/** The counters of collections; no label holds text of merchants, customers or rails. */
export type GatewayMetrics = ReturnType<typeof createMetrics>;

const OUTCOMES: ReadonlySet<string> = new Set([
  ...Object.keys(collectionRefusals),
  'ok',
  'acknowledged',
  'repeated',
  'unclear',
  'not sent',
]);
const COUNT_TIMEOUT_MS = 1_000;

/** Registers the metrics of the gateway. */
export function createMetrics(registry: Registry, store: Pick<CollectionStore, 'collection'>, clock: Clock) {
  const registers = [registry];
  const labelNames = ['mobile_operator', 'outcome'] as const;
  const payins = new Counter({
    name: 'payins_total',
    help: 'Well-formed payins, by mobile operator and outcome: ok, or the reason of the refusal.',
    labelNames,
    registers,
  });
  const completions = new Counter({
    name: 'completions_total',
    help: 'Completions of known collections, by mobile operator and outcome.',
    labelNames,
    registers,
  });
  const queued: Gauge = new Gauge({
    name: 'queued_collections',
    help: 'Collections that wait to be initiated again; not a number while the database does not answer.',
    registers,
    collect: async () => {
      queued.set(await withDeadline(countQueued(store), COUNT_TIMEOUT_MS, clock).catch(() => Number.NaN));
    },
  });
  const labels = (operatorCode: string, outcome: string) => ({
    mobile_operator: findMobileOperator(operatorCode)?.code ?? 'unknown',
    outcome: OUTCOMES.has(outcome) ? outcome : 'refused by the rail',
  });
  return {
    /** Counts a well-formed payin as `ok`, or by its refusal. */
    payin: (operatorCode: string, outcome: string) => payins.inc(labels(operatorCode, outcome)),
    /** Counts a completion of a known collection by the rail's or our own answer. */
    completion: (operatorCode: string, outcome: string) => completions.inc(labels(operatorCode, outcome)),
  };
}

/** There are few, and with their time in the filter the query uses the index that they are claimed by. */
function countQueued({ collection }: Pick<CollectionStore, 'collection'>): Promise<number> {
  const queued = { step: 'queued', dueAt: { $exists: true } } as const;
  return collection.countDocuments(queued, { maxTimeMS: COUNT_TIMEOUT_MS });
}

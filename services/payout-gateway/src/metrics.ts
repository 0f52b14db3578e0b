import { type Clock, type Result, withDeadline } from '@pesewa/kernel';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RequestRefusal } from './domain/request.ts';
import { type PayoutStore, submissionQueues } from './store.ts';

const READ_TIMEOUT_MS = 1_000;

/**
 * Registers the gauge `oldest_held_payout_seconds`: how long the longest held payout of a rail has been due for
 * submission, read at each scrape; no value if the database does not answer. It is found by the index that payouts are
 * claimed by.
 */
export function gaugeOldestHeld(options: {
  readonly store: Pick<PayoutStore, 'collection'>;
  readonly rails: readonly string[];
  readonly registry: Registry;
  readonly clock: Clock;
}): void {
  const { store, rails, registry, clock } = options;
  const oldestOf = async (rail: string): Promise<number> => {
    const found = await Promise.all(
      submissionQueues.map((queue) =>
        store.collection.findOne(
          { step: 'held', rail, queue },
          { sort: { dueAt: 1 }, projection: { _id: 0, dueAt: 1 }, maxTimeMS: READ_TIMEOUT_MS },
        ),
      ),
    );
    const nowMs = clock.nowMs();
    const waitedMs = found.map((payout) => nowMs - (payout?.dueAt?.getTime() ?? nowMs));
    return Math.max(0, ...waitedMs) / 1_000;
  };
  const oldest = new Gauge({
    name: 'oldest_held_payout_seconds',
    help: 'How long the payout of a rail that is due longest has waited to be sent; 0 if none waits.',
    labelNames: ['rail'],
    registers: [registry],
    collect: async () => {
      const read = Promise.all(rails.map(async (rail) => ({ rail, seconds: await oldestOf(rail) })));
      const measured = await withDeadline(read, READ_TIMEOUT_MS, clock).catch(() => []);
      oldest.reset();
      for (const { rail, seconds } of measured) oldest.set({ rail }, seconds);
    },
  });
}

/**
 * Registers `payout_requests_total`; gives the function that counts a request as `ok`, which repetitions of an accepted
 * one are too, or by its refusal's code.
 */
export function countRequests(
  registry: Registry,
): <Parameters extends readonly unknown[], Value>(
  kind: 'single' | 'batch',
  request: (...parameters: Parameters) => Promise<Result<Value, RequestRefusal>>,
) => typeof request {
  const requests = new Counter({
    name: 'payout_requests_total',
    help: 'Well-formed payouts and batches, by outcome: ok, which repetitions of accepted ones are too, or the code of the refusal.',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
  return (kind, request) =>
    async (...parameters) => {
      const answered = await request(...parameters);
      requests.inc({ kind, outcome: answered.ok ? 'ok' : answered.refusal.code });
      return answered;
    };
}

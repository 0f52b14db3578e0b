import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '@pesewa/runtime';
import { Hono } from 'hono';
import { type AppEnv, answer, readText } from './answers.ts';
import type { Batches } from './batches.ts';
import { readBatch } from './domain/batch.ts';
import { payoutOperations } from './payout-operations.ts';

/** The largest body of a batch: 10,000 items of some 800 bytes each. */
const BATCH_BYTES_MAX = 8 * 1_024 * 1_024;

/** How many batches may be under way at once: each takes memory many times its body. */
const BATCHES_AT_ONCE_MAX = 16;

/** The route that takes batches (contract 4.2). */
export function createBatchRoutes(deps: {
  readonly batches: Batches;
  readonly logger: Logger;
}): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  let underWay = 0;

  const take = async (
    context: Parameters<typeof readText>[0] & Parameters<typeof answer>[0],
    merchant: AppEnv['Variables']['merchant'],
  ) => {
    const body = await readText(context, BATCH_BYTES_MAX);
    if (typeof body === 'string') return answer(context, 'malformed', body);
    const order = await runInTurns(readBatch(body.text));
    if (!order.ok) return answer(context, order.refusal.code, order.refusal.message);
    const outcome = await deps.batches.submit(merchant, order.value).catch((error: unknown) => {
      deps.logger.error({ err: error }, 'a batch could not be stored');
      return undefined;
    });
    if (!outcome)
      return answer(context, 'unavailable', 'the batch may or may not be stored: send it again unchanged');
    if (!outcome.ok) return answer(context, outcome.refusal.code, outcome.refusal.message);
    return answer(context, 'accepted', 'Transactions submitted successfully');
  };

  routes.post(payoutOperations.submitBulk.getRoutingPath(), async (context) => {
    if (underWay >= BATCHES_AT_ONCE_MAX)
      return answer(context, 'unavailable', 'too many batches at once: nothing is stored, try again');
    underWay += 1;
    try {
      return await take(context, context.get('merchant'));
    } finally {
      underWay -= 1;
    }
  });

  return routes;
}

/** Runs work that yields between its steps, and lets other requests have their turn in between. */
async function runInTurns<Value>(work: Generator<void, Value>): Promise<Value> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

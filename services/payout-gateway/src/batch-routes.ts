import { setImmediate as nextTurn } from 'node:timers/promises';
import { refuse } from '@pesewa/kernel';
import type { AppEnv } from '@pesewa/merchant-api';
import { createBulkheads, currentTraceparent, type Logger, readJsonText } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import type { Batches } from './batches.ts';
import { type BatchRequest, readBatch } from './domain/batch.ts';
import { payoutOperations } from './payout-operations.ts';

/**
 * The largest body of a batch: 10,000 items of about 1,670 bytes each.
 *
 * An item with every field at its full length takes 900 bytes, and 600 more if its name and narration use three bytes
 * per letter, as Amharic does.
 */
const BATCH_BYTES_MAX = 16 * 1_024 * 1_024;

/** The bytes of all bodies that are being read or parsed; one without a length counts as the largest. */
const READING_BYTES_MAX = 16 * BATCH_BYTES_MAX;

/** How many batches may be in the process of being stored at once. */
const STORING = { runningMax: 16, waitingMax: 0 } as const;

/**
 * For one merchant, from the first byte of the body to the answer: slow bodies delay only the merchant's own batches.
 */
const PER_MERCHANT = { runningMax: 4, waitingMax: 32 } as const;

/** How many bodies are parsed at once: each takes many times its size in memory, and none can be slow. */
const PARSING = { runningMax: 4, waitingMax: 256 } as const;

const { submitBulk } = payoutOperations;

const TOO_MANY = 'too many batches at once: nothing is stored, try again';

/** The route that accepts batches (contract 4.2). */
export function createBatchRoutes(deps: {
  readonly batches: Batches;
  readonly logger: Logger;
}): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const own = createBulkheads(PER_MERCHANT);
  const parsing = createBulkheads(PARSING);
  const storing = createBulkheads(STORING);

  const store = async (context: Context<AppEnv>, order: BatchRequest): Promise<Response> => {
    const outcome = await deps.batches
      .request(context.get('merchant'), order, currentTraceparent(context.req.header('traceparent')))
      .catch((error: unknown) => {
        deps.logger.error({ err: error }, 'a batch could not be stored');
        return undefined;
      });
    if (!outcome)
      return submitBulk.refuse(
        context,
        'unavailable',
        'the batch may or may not be stored: send it again unchanged',
      );
    if (!outcome.ok) return submitBulk.refuse(context, outcome.refusal.code, outcome.refusal.message);
    return submitBulk.succeed(context, null);
  };

  let readingBytes = 0;
  const read = async (context: Context<AppEnv>) => {
    const bytes = bytesOf(context);
    if (readingBytes + bytes > READING_BYTES_MAX) return undefined;
    readingBytes += bytes;
    try {
      const body = await readJsonText(context, BATCH_BYTES_MAX);
      if (!body.ok) return refuse({ code: 'malformed' as const, message: body.refusal });
      return await parsing.run('all', () => runYielding(readBatch(body.value)));
    } finally {
      readingBytes -= bytes;
    }
  };

  const take = async (context: Context<AppEnv>): Promise<Response> => {
    const order = await read(context);
    if (order?.ok === false) return submitBulk.refuse(context, order.refusal.code, order.refusal.message);
    const stored = order && (await storing.run('all', () => store(context, order.value)));
    return stored ?? submitBulk.refuse(context, 'unavailable', TOO_MANY);
  };

  routes.post(submitBulk.route.getRoutingPath(), async (context) => {
    const taken = await own.run(context.get('merchant').id, () => take(context));
    return taken ?? submitBulk.refuse(context, 'unavailable', TOO_MANY);
  });

  return routes;
}

/** What a body may take, by its header. */
function bytesOf(context: Context): number {
  const declared = Number(context.req.header('content-length') ?? BATCH_BYTES_MAX);
  return declared >= 0 && declared <= BATCH_BYTES_MAX ? declared : BATCH_BYTES_MAX;
}

/** Runs stepwise work and lets other requests run between its steps. */
async function runYielding<Value>(work: Generator<void, Value>): Promise<Value> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

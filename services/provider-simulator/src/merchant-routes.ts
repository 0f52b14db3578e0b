import type { Clock } from '@pesewa/kernel';
import { readBytes } from '@pesewa/runtime';
import { Hono } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import type { Faults } from './faults.ts';
import type { ReceivedWebhooks } from './received-webhooks.ts';
import { BODY_BYTES_MAX, type HttpEnv } from './scripted-answers.ts';

const RECEIVER_TIMEOUT_MS = 9_000;

/**
 * The merchants' endpoint: records every webhook it receives, even those it refuses, before it answers. A webhook of a
 * merchant with a receiver goes on to it, and its answer is the endpoint's.
 */
export function createMerchantRoutes(deps: {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly received: ReceivedWebhooks;
  readonly receivers: ReadonlyMap<string, string>;
}): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.post('/:merchantId/:kind{payouts|collections}', async (context) => {
    const bytes = await readBytes(context, BODY_BYTES_MAX);
    if (bytes === undefined) return context.text('too large', 413);
    const merchantId = context.req.param('merchantId');
    await deps.received.record(merchantId, {
      at: new Date(deps.clock.nowMs()).toISOString(),
      path: context.req.path,
      headers: context.req.header(),
      body: new TextDecoder().decode(bytes),
    });
    const refusal = deps.faults.takeMerchantRefusal();
    // The fault's schema keeps the status within 200 to 599.
    if (refusal !== undefined) return context.body(null, refusal as StatusCode);
    const receiver = deps.receivers.get(merchantId);
    if (receiver === undefined) return context.text('ok');
    return context.body(null, await sendOn(receiver, context.req.raw.headers, bytes));
  });
  return app;
}

/** Sends a webhook on as it came; gives the status of the answer, 502 if there is none. */
async function sendOn(url: string, headers: Headers, body: Uint8Array): Promise<StatusCode> {
  const own = [...headers].filter(([name]) => name === 'content-type' || name.startsWith('webhook-'));
  const signal = AbortSignal.timeout(RECEIVER_TIMEOUT_MS);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: own,
      body: Buffer.from(body),
      redirect: 'manual',
      signal,
    });
    await answer.body?.cancel();
    return answer.status as StatusCode;
  } catch {
    return 502;
  }
}

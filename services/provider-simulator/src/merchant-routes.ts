import type { Clock } from '@pesewa/kernel';
import { readBytes } from '@pesewa/runtime';
import { Hono } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import type { Faults } from './faults.ts';
import type { ReceivedWebhooks } from './received-webhooks.ts';
import { BODY_BYTES_MAX, type HttpEnv } from './scripted-answers.ts';

/** The merchants' endpoint: records every webhook it receives, even those it refuses, before it answers. */
export function createMerchantRoutes(deps: {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly received: ReceivedWebhooks;
}): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.post('/:merchantId/:kind{payouts|collections}', async (context) => {
    const bytes = await readBytes(context, BODY_BYTES_MAX);
    if (bytes === undefined) return context.text('too large', 413);
    await deps.received.record(context.req.param('merchantId'), {
      at: new Date(deps.clock.nowMs()).toISOString(),
      path: context.req.path,
      headers: context.req.header(),
      body: new TextDecoder().decode(bytes),
    });
    const refusal = deps.faults.takeMerchantRefusal();
    // The fault's schema keeps the status within 200 to 599.
    return refusal === undefined ? context.text('ok') : context.body(null, refusal as StatusCode);
  });
  return app;
}

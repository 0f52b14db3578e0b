import { singlePayoutRequest } from '@pesewa/contracts';
import type { AppEnv } from '@pesewa/merchant-api';
import { currentTraceparent, type Logger, readJsonBody } from '@pesewa/runtime';
import { Hono } from 'hono';
import { payoutOperations, viewAccepted, viewLookedUp } from './payout-operations.ts';
import type { Payouts } from './payouts.ts';
import type { WhyWaiting } from './why-waiting.ts';

/** The largest body of a single payout. */
const SINGLE_BYTES_MAX = 16_384;

/** The routes that accept payouts and show them (contract 4.1, 4.3). */
export function createPayoutRoutes(deps: {
  readonly payouts: Payouts;
  readonly whyWaiting: WhyWaiting;
  readonly logger: Logger;
}): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const { submitSingle, lookUp } = payoutOperations;

  routes.post(submitSingle.route.getRoutingPath(), async (context) => {
    const request = await readJsonBody(context, singlePayoutRequest, SINGLE_BYTES_MAX);
    if (!request.ok) return submitSingle.refuse(context, 'malformed', request.refusal);
    const payout = await deps.payouts
      .request(context.get('merchant'), request.value, currentTraceparent(context.req.header('traceparent')))
      .catch((error: unknown) => {
        deps.logger.error({ err: error }, 'a payout could not be stored');
        return undefined;
      });
    if (!payout)
      return submitSingle.refuse(
        context,
        'unavailable',
        'the payout may or may not be stored: send it again unchanged',
      );
    if (!payout.ok) return submitSingle.refuse(context, payout.refusal.code, payout.refusal.message);
    return submitSingle.succeed(context, viewAccepted(payout.value));
  });

  routes.get(lookUp.route.getRoutingPath(), async (context) => {
    const reference = context.req.param('transactionReference');
    const found = await deps.payouts.find(context.get('merchant').id, reference).then(
      (payout) => ({ payout }),
      (error: unknown) => {
        deps.logger.error({ err: error }, 'a payout could not be read');
        return undefined;
      },
    );
    if (!found)
      return lookUp.refuse(context, 'unavailable', 'the payout can not be looked up at present: try again');
    const { payout } = found;
    if (!payout) return lookUp.refuse(context, 'notFound', 'Transaction not found');
    return lookUp.succeed(context, viewLookedUp(payout, deps.whyWaiting));
  });

  return routes;
}

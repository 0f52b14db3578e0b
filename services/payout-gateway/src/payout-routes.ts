import { describeProblem, firstProblem, singlePayoutRequest } from '@pesewa/contracts';
import { readBody } from '@pesewa/merchant-api';
import { isArchived } from '@pesewa/payments';
import { currentTraceparent, type Logger } from '@pesewa/runtime';
import { Hono } from 'hono';
import { type AppEnv, answer, viewLookedUp, viewSubmitted } from './answers.ts';
import { payoutOperations } from './payout-operations.ts';
import type { Payouts } from './payouts.ts';

/** The largest body of a single payout. */
const SINGLE_BYTES_MAX = 16_384;

/** The routes that accept payouts and show them (contract 4.1, 4.3). */
export function createPayoutRoutes(deps: {
  readonly payouts: Payouts;
  readonly logger: Logger;
}): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();

  routes.post(payoutOperations.submitSingle.getRoutingPath(), async (context) => {
    const body = await readBody(context, SINGLE_BYTES_MAX);
    if (typeof body === 'string') return answer(context, 'malformed', body);
    const request = singlePayoutRequest.safeParse(body.value);
    if (!request.success) return answer(context, 'malformed', describeProblem(firstProblem(request.error)));
    const payout = await deps.payouts
      .submit(context.get('merchant'), request.data, currentTraceparent(context.req.header('traceparent')))
      .catch((error: unknown) => {
        deps.logger.error({ err: error }, 'a payout could not be stored');
        return undefined;
      });
    if (!payout)
      return answer(context, 'unavailable', 'the payout may or may not be stored: send it again unchanged');
    if (!payout.ok) return answer(context, payout.refusal.code, payout.refusal.message);
    return answer(context, 'accepted', 'Transaction submitted successfully', viewSubmitted(payout.value));
  });

  routes.get(payoutOperations.lookUp.getRoutingPath(), async (context) => {
    const reference = context.req.param('transactionReference');
    const found = await deps.payouts.find(context.get('merchant').id, reference).then(
      (payout) => ({ payout }),
      (error: unknown) => {
        deps.logger.error({ err: error }, 'a payout could not be read');
        return undefined;
      },
    );
    if (!found)
      return answer(context, 'unavailable', 'the payout can not be looked up at present: try again');
    const { payout } = found;
    if (!payout) return answer(context, 'notFound', 'Transaction not found');
    if (isArchived(payout)) return answer(context, 'archived', archivedMessage(payout.archived));
    return answer(context, 'answered', 'Transaction found', viewLookedUp(payout));
  });

  return routes;
}

function archivedMessage(end: string | null): string {
  return `Transaction archived: ${end === null ? 'it has ended' : `it ended as ${end}`}, and its details are no longer kept`;
}

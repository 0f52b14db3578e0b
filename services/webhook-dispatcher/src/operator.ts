import { referencePattern } from '@pesewa/contracts';
import { answerJson } from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { Deliveries } from './deliveries.ts';
import type { DeliveryDocument } from './documents.ts';
import type { DeliveryStore } from './store.ts';

const PAGE_ITEMS_MAX = 100;
const ENDPOINTS_TIMEOUT_MS = 5_000;

const query = z
  .object({
    reference: z.string().regex(referencePattern).optional(),
    state: z.enum(['pending', 'delivered', 'exhausted', 'discarded']).optional(),
    after: z.string().max(200).optional(),
  })
  .refine(({ reference, state }) => reference !== undefined || state !== undefined);

/**
 * Adds the operator API (ADR 60): the delivery log (`GET /deliveries?reference=&state=&after=`), the attempts of one
 * delivery (`GET /deliveries/{id}/attempts`), `POST /deliveries/{id}/resend`, and the endpoints with unfinished
 * deliveries, those with the most failing ones first (`GET /endpoints`).
 */
export function addOperatorRoutes(
  operator: Hono,
  deps: {
    readonly deliveries: Pick<Deliveries, 'resend'>;
    readonly store: Pick<DeliveryStore, 'list' | 'listAttempts' | 'endpoints'>;
  },
): void {
  operator.get('/deliveries', async (context) => {
    const asked = query.safeParse(context.req.query());
    if (!asked.success) {
      const message = 'ask by reference (ours or the merchant’s), by state, or both';
      return answerJson(context, 400, { code: 'malformed', message });
    }
    const { reference, state, after } = asked.data;
    const found = await deps.store.list({
      ...(reference !== undefined && { reference }),
      ...(state !== undefined && { state }),
      ...(after !== undefined && { after }),
      limit: PAGE_ITEMS_MAX,
    });
    const next = found.length === PAGE_ITEMS_MAX ? (found.at(-1)?._id ?? null) : null;
    return answerJson(context, 200, { items: found.map(view), next });
  });

  operator.get('/deliveries/:id/attempts', async (context) => {
    const attempts = await deps.store.listAttempts(context.req.param('id'), PAGE_ITEMS_MAX);
    const items = attempts.map(({ at, status, error, durationMs }) => ({ at, status, error, durationMs }));
    return answerJson(context, 200, { items, next: null });
  });

  operator.get('/endpoints', async (context) => {
    const endpoints = await deps.store.endpoints(ENDPOINTS_TIMEOUT_MS);
    const items = endpoints.slice(0, PAGE_ITEMS_MAX).map(({ bulkhead, ...endpoint }) => {
      const [merchantId, name] = bulkhead.split(' ');
      return { merchantId, endpoint: name, ...endpoint };
    });
    return answerJson(context, 200, { items, next: null });
  });

  operator.post('/deliveries/:id/resend', async (context) => {
    const id = context.req.param('id');
    return (await deps.deliveries.resend(id))
      ? answerJson(context, 202, { id, state: 'pending' })
      : unknown(context);
  });
}

function unknown(context: Context): Response {
  return answerJson(context, 404, { code: 'not_found', message: 'there is no such delivery' });
}

/** A delivery as operators see it: without body and address. */
function view(delivery: DeliveryDocument) {
  const { _id: id, merchantId, reference, merchantReference, kind, state, attempts } = delivery;
  return {
    id,
    merchantId,
    reference,
    merchantReference,
    kind,
    state,
    attempts,
    bornAt: delivery.bornAt,
    dueAt: delivery.dueAt ?? null,
    lastStatus: delivery.lastStatus ?? null,
    lastError: delivery.lastError ?? null,
    reason: delivery.reason ?? null,
  };
}

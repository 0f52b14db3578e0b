import { type DeliveryView, deliveryOperations, ENDPOINTS_MAX, type EndpointView } from '@pesewa/contracts';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Deliveries } from './deliveries.ts';
import type { DeliveryDocument } from './documents.ts';
import type { Endpoint } from './endpoints.ts';
import type { DeliveryStore } from './store.ts';

const PAGE_ITEMS_MAX = 100;
const ENDPOINTS_TIMEOUT_MS = 5_000;

/** Adds the operator API. */
export function addOperatorRoutes(
  operator: Hono,
  deps: {
    readonly deliveries: Pick<Deliveries, 'resend'>;
    readonly store: Pick<DeliveryStore, 'list' | 'listAttempts' | 'endpoints'>;
  },
): void {
  serveOperations(operator, deliveryOperations, {
    list: async ({ query }) => {
      const found = await deps.store.list({ ...query, limit: PAGE_ITEMS_MAX });
      const next = found.length === PAGE_ITEMS_MAX ? (found.at(-1)?._id ?? null) : null;
      return answer(200, { items: found.map(view), next });
    },
    attempts: async ({ parameters: { id } }) => {
      const attempts = await deps.store.listAttempts(id);
      const items = attempts.map(({ at, status, error, durationMs }) => ({
        at: at.toISOString(),
        status,
        error,
        durationMs,
      }));
      return answer(200, { items, next: null });
    },
    endpoints: async () => {
      const endpoints = await deps.store.endpoints(ENDPOINTS_TIMEOUT_MS);
      return answer(200, { items: endpoints.slice(0, ENDPOINTS_MAX).map(viewEndpoint), next: null });
    },
    resend: async ({ parameters: { id } }) =>
      (await deps.deliveries.resend(id))
        ? answer(202, { id, state: 'pending' as const })
        : refused('not_found', 'there is no such delivery'),
  });
}

function viewEndpoint({ bulkhead, oldestCreatedAt, nextAt, ...endpoint }: Endpoint): EndpointView {
  const [merchantId = '', name = ''] = bulkhead.split(' ');
  const times = { oldestCreatedAt: oldestCreatedAt.toISOString(), nextAt: nextAt.toISOString() };
  return { merchantId, endpoint: name, ...endpoint, ...times };
}

/** A delivery as operators see it: without body and address. */
function view(delivery: DeliveryDocument): DeliveryView {
  const { _id: id, merchantId, reference, merchantReference, kind, state, attempts } = delivery;
  const last = delivery.attemptLog?.at(-1);
  return {
    id,
    merchantId,
    reference,
    merchantReference,
    kind,
    state,
    attempts,
    createdAt: delivery.createdAt.toISOString(),
    dueAt: delivery.dueAt?.toISOString() ?? null,
    lastStatus: last?.status ?? null,
    lastError: last?.error ?? null,
    reason: delivery.reason ?? null,
  };
}

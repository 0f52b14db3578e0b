import { type DeliveryView, deliveryOperations, endpointOperations } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Deliveries } from './deliveries.ts';
import type { DeliveryDocument } from './documents.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { listEndpoints } from './endpoint-list.ts';
import type { HealthStore } from './health-store.ts';
import type { Inspections } from './inspections.ts';
import type { DeliveryStore } from './store.ts';

const PAGE_ITEMS_MAX = 100;

/** The dependencies of what operators do with endpoints. */
export interface EnablingDeps {
  readonly store: Pick<DeliveryStore, 'endpoints' | 'countByEndpoint' | 'countWaiting' | 'keep'>;
  readonly health: Pick<HealthStore, 'find' | 'listUnhealthy'>;
  readonly endpoints: Pick<EndpointHealth, 'enable'>;
  readonly messaging: Pick<Messaging, 'inTransaction'>;
  readonly clock: Clock;
  /** Called when an endpoint was enabled. */
  readonly enabled: () => void;
}

const unknown = {
  'delivery.unknown': refused('not_found', 'there is no such delivery'),
  'merchant.unknown': refused('not_found', 'there is no such merchant'),
};

/** Adds the operator API. */
export function addOperatorRoutes(
  operator: Hono,
  deps: {
    readonly deliveries: Pick<Deliveries, 'resend'>;
    readonly store: Pick<DeliveryStore, 'list' | 'listAttempts'>;
    readonly enabling: EnablingDeps;
    readonly inspections: Inspections;
  },
): void {
  serveOperations(operator, deliveryOperations, {
    list: async ({ query }) => {
      const found = await deps.store.list({ ...query, limit: PAGE_ITEMS_MAX });
      if (!found) return refused('not_found', 'the webhook that the list goes on after is gone: begin again');
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
    endpoints: async () => answer(200, { items: [...(await listEndpoints(deps.enabling))], next: null }),
    resend: async ({ parameters: { id } }) =>
      (await deps.deliveries.resend(id))
        ? answer(202, { id, state: 'pending' as const })
        : unknown['delivery.unknown'],
    show: async ({ parameters: { id } }) => {
      const shown = await deps.inspections.show(id);
      if (!shown.ok) return unknown[shown.refusal];
      const { delivery, address, headers } = shown.value;
      return answer(200, { ...view(delivery), address, headers, body: delivery.body });
    },
    sign: async ({ parameters: { id } }) => {
      const signed = await deps.inspections.sign(id);
      return signed.ok ? answer(200, signed.value) : unknown[signed.refusal];
    },
    test: async ({ parameters: { merchantId }, body: { kind } }) => {
      const tested = await deps.inspections.test(merchantId, kind);
      return tested.ok ? answer(200, tested.value) : unknown[tested.refusal];
    },
    signTest: async ({ parameters: { merchantId }, body: { kind } }) => {
      const signed = await deps.inspections.signTest(merchantId, kind);
      return signed.ok ? answer(200, signed.value) : unknown[signed.refusal];
    },
  });
  addEndpointRoutes(operator, deps.enabling);
}

function addEndpointRoutes(operator: Hono, deps: EnablingDeps): void {
  const { store, health, endpoints, messaging, clock } = deps;
  serveOperations(operator, endpointOperations, {
    enable: async ({ body: { merchantId, endpoint, dryRun = false }, operator: by }) => {
      const name = `${merchantId} ${endpoint}`;
      const found = (await health.find([name])).get(name);
      if (!found)
        return refused('not_found', `${endpoint} of ${merchantId}: no failure of such an endpoint is known`);
      const notDisabled = refused('not_disabled', `${endpoint} of ${merchantId} is not disabled`);
      if (found.state !== 'disabled') return notDisabled;
      // The watch has kept nearly all; attempts that were under way may have given up more since.
      if (!dryRun) await store.keep(name, found.failingSince);
      const waiting = await store.countWaiting(name);
      if (!dryRun) {
        const enabled = await messaging.inTransaction((transaction) =>
          endpoints.enable(name, by, clock.nowMs(), transaction),
        );
        if (!enabled.ok) return notDisabled;
        deps.enabled();
      }
      const failingSince = (found.failingSince ?? new Date(clock.nowMs())).toISOString();
      return answer(200, { merchantId, endpoint, waiting, failingSince, enabled: !dryRun });
    },
  });
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

import { unreachable } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { DeliveryState } from './domain/delivery.ts';
import type { Health } from './domain/endpoint-health.ts';
import type { DeliveryChange } from './store.ts';

/** The published event of a change; undefined for an internal one. */
export function deliveryEventOf(
  { delivery, state, attempt }: DeliveryChange,
  nowMs: number,
): OutgoingEvent | undefined {
  const type = eventTypeOf(state);
  if (type === undefined) return undefined;
  const { _id: deliveryId, merchantId, reference, causationId, traceparent } = delivery;
  const attempts = delivery.attempts + (attempt === undefined ? 0 : 1);
  return {
    topic: 'webhooks',
    key: merchantId,
    version: BigInt(attempts),
    causationId,
    ...(traceparent !== undefined && { traceparent }),
    type,
    payload: { occurredAt: BigInt(nowMs), deliveryId, merchantId, reference, attempts },
  };
}

function eventTypeOf(state: DeliveryState) {
  switch (state) {
    case 'pending':
    case 'deferred':
      return undefined;
    case 'delivered':
      return 'pesewa.webhooks.WebhookDelivered' as const;
    case 'exhausted':
      return 'pesewa.webhooks.WebhookExhausted' as const;
    case 'discarded':
      return 'pesewa.webhooks.WebhookDiscarded' as const;
    default:
      return unreachable(state);
  }
}

const changeTypes = {
  healthy: undefined,
  failing: undefined,
  warned: 'pesewa.webhooks.WebhookEndpointWarned',
  disabled: 'pesewa.webhooks.WebhookEndpointDisabled',
} as const;

/** The published event of an endpoint's new state; undefined for an internal one. */
export function changeEventOf(
  { endpoint, causationId }: { readonly endpoint: string; readonly causationId?: string },
  health: Health,
  version: number,
  atMs: number,
): OutgoingEvent | undefined {
  const type = changeTypes[health.state];
  if (type === undefined || causationId === undefined) return undefined;
  const { key, payload } = endpointFields(endpoint, health, atMs);
  return { topic: 'webhooks', key, version: BigInt(version), causationId, type, payload };
}

/** The published event of a disabled endpoint that is enabled. */
export function enabledEventOf(
  {
    endpoint,
    health,
    version,
  }: { readonly endpoint: string; readonly health: Health; readonly version: number },
  enabledBy: string | null,
  atMs: number,
): OutgoingEvent {
  const { key, payload } = endpointFields(endpoint, health, atMs);
  return {
    topic: 'webhooks',
    key,
    version: BigInt(version),
    causationId: null,
    type: 'pesewa.webhooks.WebhookEndpointEnabled',
    payload: { ...payload, enabledBy },
  };
}

function endpointFields(bulkhead: string, health: Health, atMs: number) {
  const { merchantId, endpoint } = namesOf(bulkhead);
  const payload = {
    occurredAt: BigInt(atMs),
    merchantId,
    endpoint,
    failingSince: BigInt(health.failingSinceMs ?? atMs),
    lastSuccessAt: health.lastSuccessAtMs === null ? null : BigInt(health.lastSuccessAtMs),
  };
  return { key: merchantId, payload };
}

/** The merchant and the endpoint that a bulkhead is named after. */
export function namesOf(bulkhead: string): { readonly merchantId: string; readonly endpoint: string } {
  const [merchantId = '', endpoint = ''] = bulkhead.split(' ');
  return { merchantId, endpoint };
}

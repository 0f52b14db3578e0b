import { ENDPOINTS_MAX, type EndpointView } from '@pesewa/contracts';
import type { Endpoint } from './endpoints.ts';
import { namesOf } from './events.ts';
import type { HealthDocument, HealthStore } from './health-store.ts';
import type { DeliveryStore } from './store.ts';

const READ_TIMEOUT_MS = 5_000;
const ORDER = [
  'disabled',
  'warned',
  'failing',
  'waiting',
] as const satisfies readonly EndpointView['state'][];

/** The first {@link ENDPOINTS_MAX} endpoints that are owed webhooks or fail, disabled and warned ones first. */
export async function listEndpoints(deps: {
  readonly store: Pick<DeliveryStore, 'endpoints' | 'countDeferred'>;
  readonly health: Pick<HealthStore, 'listUnhealthy'>;
}): Promise<readonly EndpointView[]> {
  const [backlog, unhealthy, deferred] = await Promise.all([
    deps.store.endpoints(READ_TIMEOUT_MS),
    deps.health.listUnhealthy(),
    deps.store.countDeferred(READ_TIMEOUT_MS),
  ]);
  const owed = new Map(backlog.map((endpoint) => [endpoint.bulkhead, endpoint]));
  const health = new Map(unhealthy.map((document) => [document._id, document]));
  // Those with the most failing deliveries come first among those in the same state.
  const names = [...new Set([...owed.keys(), ...health.keys(), ...deferred.keys()])];
  return names
    .map((name) => viewEndpoint(name, owed.get(name), health.get(name), deferred.get(name) ?? 0))
    .toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state))
    .slice(0, ENDPOINTS_MAX);
}

function viewEndpoint(
  name: string,
  owed: Endpoint | undefined,
  health: HealthDocument | undefined,
  deferred: number,
): EndpointView {
  const state =
    health === undefined || health.state === 'healthy' ? (owed?.state ?? 'waiting') : health.state;
  return {
    ...namesOf(name),
    state,
    pending: owed?.pending ?? 0,
    failing: owed?.failing ?? 0,
    deferred,
    oldestCreatedAt: owed?.oldestCreatedAt.toISOString() ?? null,
    nextAt: owed?.nextAt.toISOString() ?? null,
    failingSince: health?.failingSince?.toISOString() ?? null,
    lastSuccessAt: health?.lastSuccessAt?.toISOString() ?? null,
    lastStatus: owed?.lastStatus ?? null,
    lastError: owed?.lastError ?? null,
  };
}

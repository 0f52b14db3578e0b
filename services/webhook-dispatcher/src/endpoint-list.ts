import { ENDPOINTS_MAX, type EndpointView, endpointCounts } from '@pesewa/contracts';
import { countWaiting } from '@pesewa/messaging';
import type { EndpointCount } from './deferred.ts';
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
  'given_up',
] as const satisfies readonly EndpointView['state'][];

/** What reads what waits for people: webhooks that were given up, and disabled endpoints, those first that have failed for longest. */
export const readsForPeople = (
  { collection }: Pick<DeliveryStore, 'collection'>,
  { listUnhealthy }: Pick<HealthStore, 'listUnhealthy'>,
) => ({
  givenUpWebhooks: () => countWaiting(collection, { state: 'exhausted' }),
  disabledEndpoints: async () =>
    (await listUnhealthy(['disabled'], ENDPOINTS_MAX)).map(({ _id, failingSince }) => ({
      merchantId: namesOf(_id).merchantId,
      failingSince: failingSince?.toISOString() ?? null,
    })),
});

/** The first {@link ENDPOINTS_MAX} endpoints that are owed webhooks, fail or had some given up, disabled and warned ones first. */
export async function listEndpoints(deps: {
  readonly store: Pick<DeliveryStore, 'endpoints' | 'countByEndpoint'>;
  readonly health: Pick<HealthStore, 'listUnhealthy'>;
}): Promise<readonly EndpointView[]> {
  const [backlog, unhealthy, deferred, exhausted] = await Promise.all([
    deps.store.endpoints(READ_TIMEOUT_MS),
    deps.health.listUnhealthy(),
    deps.store.countByEndpoint('deferred', READ_TIMEOUT_MS),
    deps.store.countByEndpoint('exhausted', READ_TIMEOUT_MS),
  ]);
  const owed = new Map(backlog.map((endpoint) => [endpoint.bulkhead, endpoint]));
  const health = new Map(unhealthy.map((document) => [document._id, document]));
  // Those with the most failing deliveries come first among those in the same state.
  const names = [...new Set([...owed.keys(), ...health.keys(), ...deferred.keys(), ...exhausted.keys()])];
  return names
    .map((name) => {
      const kept = { deferred: deferred.get(name), exhausted: exhausted.get(name) };
      return viewEndpoint(name, owed.get(name), health.get(name), kept);
    })
    .toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state))
    .slice(0, ENDPOINTS_MAX);
}

function viewEndpoint(
  name: string,
  owed: Endpoint | undefined,
  health: HealthDocument | undefined,
  { deferred, exhausted }: Readonly<Record<'deferred' | 'exhausted', EndpointCount | undefined>>,
): EndpointView {
  const owedState = owed?.state ?? (deferred ? 'waiting' : 'given_up');
  const cut = { pending: owed, failing: owed, deferred, exhausted };
  const state = health === undefined || health.state === 'healthy' ? owedState : health.state;
  return {
    ...namesOf(name),
    state,
    pending: owed?.pending ?? 0,
    failing: owed?.failing ?? 0,
    deferred: deferred?.count ?? 0,
    exhausted: exhausted?.count ?? 0,
    cut: endpointCounts.filter((name) => cut[name]?.isCut),
    oldestCreatedAt: owed?.oldestCreatedAt.toISOString() ?? null,
    nextAt: owed?.nextAt.toISOString() ?? null,
    failingSince: health?.failingSince?.toISOString() ?? null,
    lastSuccessAt: health?.lastSuccessAt?.toISOString() ?? null,
    lastStatus: owed?.lastStatus ?? null,
    lastError: owed?.lastError ?? null,
  };
}

import { createHash } from 'node:crypto';
import type { Merchant } from '@pesewa/directory';
import { accept, type Result, refuse } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import {
  type Health,
  type HealthLimits,
  healthyAgain,
  type Observation,
  observe,
} from './domain/endpoint-health.ts';
import { changeEventOf, enabledEventOf, namesOf } from './events.ts';
import { type HealthDocument, type HealthStore, toHealth } from './health-store.ts';
import type { DeliveryChange } from './store.ts';

/** The health of endpoints: what this process knows of it, and the changes that it makes (ADR 73). */
export interface EndpointHealth {
  /** Whether no attempt is to be made, as far as this process knows. */
  readonly isDisabled: (endpoint: string) => boolean;
  /** Whether it has had a success since its last failure, or no failure yet, as far as this process knows. */
  readonly isHealthy: (endpoint: string) => boolean;
  /** Notes how attempts ended, in the transaction that records them; writes nothing unless a health changes. */
  readonly record: (
    changes: readonly DeliveryChange[],
    atMs: number,
    transaction: Transaction,
  ) => Promise<void>;
  /** Enables a disabled endpoint; refused if it is not disabled. */
  readonly enable: (
    endpoint: string,
    /** The operator; null if the merchant's address has changed. */
    enabledBy: string | null,
    atMs: number,
    transaction: Transaction,
  ) => Promise<Result<HealthDocument, 'not_found' | 'not_disabled'>>;
  /** Takes over what all processes have recorded; gives the endpoints that are disabled. */
  readonly refresh: () => Promise<readonly HealthDocument[]>;
  /** Records the successes of this process at endpoints that it took for healthy while another saw them fail. */
  readonly recordMissed: (atMs: number, transaction: Transaction) => Promise<void>;
}

/** A merchant may name an address with each collection, so that their number has no end. */
const REMEMBERED_MAX = 10_000;

/** Builds {@link EndpointHealth}. */
export function createEndpointHealth(store: HealthStore, limits: HealthLimits): EndpointHealth {
  /** Of endpoints that are not healthy. */
  const known = new Map<string, Health>();
  const lastSuccesses = new Map<string, number>();
  const succeeded = (endpoint: string, atMs: number) => {
    lastSuccesses.delete(endpoint);
    lastSuccesses.set(endpoint, atMs);
    if (lastSuccesses.size > REMEMBERED_MAX) lastSuccesses.delete(lastSuccesses.keys().next().value ?? '');
  };
  const remember = (endpoint: string, health: Health | undefined) => {
    if (health === undefined || health.state === 'healthy') known.delete(endpoint);
    else known.set(endpoint, health);
  };
  const deps = { store, limits, remember };
  return {
    isDisabled: (endpoint) => known.get(endpoint)?.state === 'disabled',
    isHealthy: (endpoint) => !known.has(endpoint),
    record: async (changes, atMs, transaction) => {
      const observations = changes.flatMap((change) => observationOf(change, lastSuccesses));
      for (const one of observations) if (one.isDelivered) succeeded(one.endpoint, one.atMs);
      const matters = new Set(
        observations
          .filter((one) => observe(known.get(one.endpoint), one, limits) !== undefined)
          .map(({ endpoint }) => endpoint),
      );
      if (matters.size === 0) return;
      await observeAll(
        deps,
        observations.filter(({ endpoint }) => matters.has(endpoint)),
        atMs,
        transaction,
      );
    },
    enable: async (endpoint, enabledBy, atMs, transaction) => {
      const document = (await store.find([endpoint], transaction.session)).get(endpoint);
      if (!document) return refuse('not_found');
      if (document.state !== 'disabled') return refuse('not_disabled');
      const health = healthyAgain(toHealth(document), null);
      await store.save({ endpoint, health, before: document, atMs }, transaction.session);
      const version = document.version + 1;
      transaction.emit(enabledEventOf({ endpoint, health: toHealth(document), version }, enabledBy, atMs));
      transaction.afterCommit(() => remember(endpoint, health));
      return accept(document);
    },
    refresh: async () => {
      const documents = await store.listUnhealthy();
      known.clear();
      for (const document of documents) known.set(document._id, toHealth(document));
      return documents.filter(({ state }) => state === 'disabled');
    },
    recordMissed: async (nowMs, transaction) => {
      const missed = [...known].flatMap(([endpoint, health]) => {
        const atMs = lastSuccesses.get(endpoint);
        if (atMs === undefined) return [];
        const success = { isDelivered: true, atMs, address: health.address, lastSuccessAtMs: atMs };
        return observe(health, success, limits) ? [{ endpoint, ...success }] : [];
      });
      if (missed.length > 0) await observeAll(deps, missed, nowMs, transaction);
    },
  };
}

/** An attempt at an endpoint, and what was sent because of which event. */
interface EndpointObservation extends Observation {
  readonly endpoint: string;
  readonly causationId?: string;
}

function observationOf(
  { delivery, state, attempt, address }: DeliveryChange,
  lastSuccesses: ReadonlyMap<string, number>,
): readonly EndpointObservation[] {
  if (attempt === undefined) return [];
  const { bulkhead: endpoint, causationId } = delivery;
  const lastSuccessAtMs = lastSuccesses.get(endpoint) ?? null;
  const isDelivered = state === 'delivered';
  const atMs = attempt.at.getTime();
  return [{ endpoint, causationId, isDelivered, atMs, address: address ?? null, lastSuccessAtMs }];
}

/** The digest of the merchant's own address, where an endpoint stands for it; undefined for one named by its origin. */
export function ownAddressOf(bulkhead: string, { webhooks }: Pick<Merchant, 'webhooks'>): string | undefined {
  const { endpoint } = namesOf(bulkhead);
  if (endpoint !== 'payouts' && endpoint !== 'collections') return undefined;
  const url = endpoint === 'payouts' ? webhooks.payoutsUrl : webhooks.collectionsUrl;
  // Addresses may hold secrets, and it only has to be seen that one has changed.
  return url === null ? undefined : createHash('sha256').update(url).digest('base64url');
}

interface ObservingDeps {
  readonly store: HealthStore;
  readonly limits: HealthLimits;
  readonly remember: (endpoint: string, health: Health | undefined) => void;
}

/** Decides on what is stored, and writes what changes with its events. */
async function observeAll(
  { store, limits, remember }: ObservingDeps,
  observations: readonly EndpointObservation[],
  atMs: number,
  transaction: Transaction,
): Promise<void> {
  const endpoints = [...new Set(observations.map(({ endpoint }) => endpoint))];
  const found = await store.find(endpoints, transaction.session);
  for (const endpoint of endpoints) {
    const document = found.get(endpoint);
    let health = document && toHealth(document);
    let isChanged = false;
    for (const observation of observations.filter((one) => one.endpoint === endpoint)) {
      const next = observe(health, observation, limits);
      if (!next) continue;
      const event =
        next.state === health?.state
          ? undefined
          : changeEventOf(observation, next, (document?.version ?? 0) + 1, atMs);
      if (event) transaction.emit(event);
      health = next;
      isChanged = true;
    }
    if (health && isChanged)
      await store.save({ endpoint, health, before: document, atMs }, transaction.session);
    transaction.afterCommit(() => remember(endpoint, health));
  }
}

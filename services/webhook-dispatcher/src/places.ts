import { LRUCache } from 'lru-cache';

/** How many deliveries may be in hand at once in this process. */
export interface PlaceLimits {
  /** Attempts at once: an endpoint with so many gets no more. */
  readonly perEndpointMax: number;
  /** How many more may wait for these, if they come at once. */
  readonly waitingPerEndpointMax: number;
  /** Over all endpoints of one merchant. */
  readonly perMerchantMax: number;
  /** Over all endpoints that fail: the other places are for those that answer. */
  readonly failingMax: number;
}

/**
 * The places of deliveries in hand, so that one merchant's endpoints hold up no other's. An endpoint is named as in
 * `DeliveryDocument.bulkhead`: its merchant, a space, and its destination.
 */
export interface Places {
  /** How many more deliveries of an endpoint may be in hand, if they come at once. */
  readonly roomOf: (endpoint: string) => number;
  /** How many more of them would be sent at once and wait for no other. */
  readonly freeOf: (endpoint: string) => number;
  /**
   * Begins a choice of deliveries that would be sent at once: gives whether there is a place for one more of an endpoint
   * beside those chosen before it, which take from the same merchant's places and from those of failing endpoints.
   */
  readonly choose: () => (endpoint: string) => boolean;
  /** Takes a place; gives the function that frees it, or undefined if there is none. */
  readonly take: (endpoint: string) => (() => void) | undefined;
  /** Notes how an attempt ended. */
  readonly attempted: (endpoint: string, isDelivered: boolean) => void;
}

/** After so many attempts in a row without success an endpoint is tried with one delivery at a time. */
const FAILURES_MAX = 3;
/** Counts for what fails; no endpoint and no merchant has an empty name. */
const FAILING = '';
/** A merchant may name an address with each collection, so that their number has no end. */
const REMEMBERED_MAX = 1_000;

/** Builds {@link Places}; `freed` is called when there is room again where there was none. */
export function createPlaces(limits: PlaceLimits, freed: () => void = () => undefined): Places {
  const endpoints = new Map<string, number>();
  const merchants = new Map<string, number>();
  const failures = new LRUCache<string, number>({ max: REMEMBERED_MAX });
  let failingInHand = 0;
  const isFailing = (endpoint: string) => (failures.get(endpoint) ?? 0) >= FAILURES_MAX;
  const merchantRoom = (merchant: string) => limits.perMerchantMax - (merchants.get(merchant) ?? 0);
  /** What is left of all places, those for waiting included. */
  const leftOf = (endpoint: string) => {
    const failing = isFailing(endpoint);
    const own =
      (failing ? 1 : limits.perEndpointMax + limits.waitingPerEndpointMax) - (endpoints.get(endpoint) ?? 0);
    const shared = failing ? limits.failingMax - failingInHand : own;
    return Math.max(0, Math.min(own, shared, merchantRoom(merchantOf(endpoint))));
  };
  const freeOf = (endpoint: string) =>
    Math.max(0, Math.min(leftOf(endpoint), limits.perEndpointMax - (endpoints.get(endpoint) ?? 0)));
  const roomOf = (endpoint: string) => (freeOf(endpoint) === 0 ? 0 : leftOf(endpoint));
  const free = (endpoint: string, failing: boolean) => {
    const wasFull = roomOf(endpoint) === 0;
    add(endpoints, endpoint, -1);
    add(merchants, merchantOf(endpoint), -1);
    if (failing) failingInHand -= 1;
    if (wasFull) freed();
  };
  const choose = () => {
    const chosen = new Map<string, number>();
    const countOf = (key: string) => chosen.get(key) ?? 0;
    return (endpoint: string) => {
      const merchant = merchantOf(endpoint);
      const failing = isFailing(endpoint);
      const hasPlace =
        countOf(endpoint) < freeOf(endpoint) &&
        countOf(merchant) < merchantRoom(merchant) &&
        (!failing || countOf(FAILING) < limits.failingMax - failingInHand);
      for (const key of hasPlace ? [endpoint, merchant, ...(failing ? [FAILING] : [])] : [])
        add(chosen, key, 1);
      return hasPlace;
    };
  };
  return {
    roomOf,
    freeOf,
    choose,
    take: (endpoint) => {
      if (leftOf(endpoint) === 0) return undefined;
      const failing = isFailing(endpoint);
      add(endpoints, endpoint, 1);
      add(merchants, merchantOf(endpoint), 1);
      if (failing) failingInHand += 1;
      return () => free(endpoint, failing);
    },
    attempted: (endpoint, isDelivered) => {
      if (isDelivered) failures.delete(endpoint);
      else failures.set(endpoint, (failures.get(endpoint) ?? 0) + 1);
    },
  };
}

function merchantOf(endpoint: string): string {
  return endpoint.split(' ', 1)[0] ?? '';
}

function add(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

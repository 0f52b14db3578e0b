import type { Clock } from '@pesewa/kernel';
import { type Loop, startLoop } from '@pesewa/messaging';
import { type PayoutRail, type Processor, type Rails, takesPayouts } from '@pesewa/rails';
import type { Logger } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import type { Route, RouteQuery } from './domain/routing.ts';

/** What a payout is routed by; any channel if it is left out. */
export type PayoutDestination = Omit<RouteQuery, 'channel'> & Partial<Pick<RouteQuery, 'channel'>>;

/**
 * The processors of all rails: cached in memory, refreshed in the background, and served stale while a rail is down.
 */
export type Processors = Awaited<ReturnType<typeof openProcessors>>;

interface Listing {
  readonly fetchedAtMs: number;
  readonly processors: readonly Processor[];
  readonly byCode: ReadonlyMap<string, Processor>;
}

/** How long a request waits for a rail that has never answered. */
const FIRST_FETCH_MS_MAX = 5_000;
/** How soon a request may ask again after a rail has not answered. */
const RETRY_AFTER_MS = 1_000;
const CHECK_PAUSE_MS = 500;
const BACKOFF_MS = { first: 500, last: 60_000 } as const;

const codeKey = (currency: string, code: string) => `${currency}:${code}`;
const isUsable = ({ active, blockTransaction }: Processor) => active && !blockTransaction;

interface ProcessorsDeps {
  readonly rails: Pick<Rails, 'all' | 'railsFor'>;
  readonly store: ListingStore;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Loads the last known lists and starts refreshing them; does not wait for any rail. */
export async function openProcessors(deps: ProcessorsDeps) {
  const cache = createListingCache(deps);
  for (const { country, rail, fetchedAt, processors } of await deps.store.all())
    cache.keep(country, rail, fetchedAt.getTime(), processors);
  const loop = startRenewal(deps, cache);
  const { rails } = deps;

  const route = async (destination: PayoutDestination): Promise<Route> => {
    const candidates = rails.railsFor(destination);
    if (candidates.length === 0) return { kind: 'noRoute' };
    const routing = chooseRail(cache, candidates, destination);
    if (routing.kind === 'routed' || cache.knowsAll(destination.country, candidates)) return routing;
    await cache.waitForFirst(destination.country);
    const again = chooseRail(cache, candidates, destination);
    if (again.kind === 'routed' || cache.knowsAll(destination.country, candidates)) return again;
    return { kind: 'unavailable' };
  };

  return {
    /** The first rail, in configured order, that serves the route and offers the processor. */
    route,
    /** The union over the rails; undefined if none has ever answered, and empty if none serves the country. */
    list: async (country: string): Promise<readonly Processor[] | undefined> => {
      const serving = servingRails(rails.all, country);
      if (serving.length === 0) return [];
      if (!cache.knowsAny(country, serving)) await cache.waitForFirst(country);
      return cache.knowsAny(country, serving) ? mergeListings(cache, country, serving) : undefined;
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

type ListingCache = ReturnType<typeof createListingCache>;

/** Each rail's latest list of every country, and the requests for them: one per country at a time. */
function createListingCache({ rails, store, clock, logger }: ProcessorsDeps) {
  const listings = new Map<string, Listing>();
  const asking = new Map<string, Promise<void>>();
  const askedAtMs = new Map<string, number>();
  const keyOf = (country: string, rail: string) => `${country}:${rail}`;
  const get = (country: string, { name }: Pick<PayoutRail, 'name'>) => listings.get(keyOf(country, name));
  const keep = (country: string, rail: string, fetchedAtMs: number, processors: readonly Processor[]) =>
    void listings.set(keyOf(country, rail), {
      fetchedAtMs,
      processors,
      byCode: new Map(
        processors.map((processor) => [codeKey(processor.currency, processor.code), processor]),
      ),
    });

  async function askRail(country: string, rail: PayoutRail): Promise<void> {
    const answer = await rail.payouts.processors(country);
    if (answer.kind === 'unknown') {
      logger.warn({ rail: rail.name, country, why: answer.why }, 'a rail did not list its processors');
      return;
    }
    const fetchedAtMs = clock.nowMs();
    keep(country, rail.name, fetchedAtMs, answer.value);
    await store
      .save({ country, rail: rail.name, fetchedAt: new Date(fetchedAtMs), processors: answer.value })
      .catch((error: unknown) => logger.warn({ err: error, country }, 'processors could not be stored'));
  }
  const ask = (country: string): Promise<void> => {
    const underWay = asking.get(country);
    if (underWay) return underWay;
    askedAtMs.set(country, clock.nowMs());
    const asked = Promise.all(servingRails(rails.all, country).map((rail) => askRail(country, rail)))
      .then(() => undefined)
      .finally(() => asking.delete(country));
    asking.set(country, asked);
    return asked;
  };
  return {
    get,
    keep,
    ask,
    knowsAll: (country: string, of: readonly PayoutRail[]) => of.every((rail) => get(country, rail)),
    knowsAny: (country: string, of: readonly PayoutRail[]) => of.some((rail) => get(country, rail)),
    /** Asks, unless that has just failed, and waits for a bounded time. */
    waitForFirst: async (country: string): Promise<void> => {
      const sinceMs = clock.nowMs() - (askedAtMs.get(country) ?? Number.NEGATIVE_INFINITY);
      if (!asking.has(country) && sinceMs >= 0 && sinceMs < RETRY_AFTER_MS) return;
      const answered = new AbortController();
      const asked = ask(country).finally(() => answered.abort());
      await Promise.race([asked, clock.sleep(FIRST_FETCH_MS_MAX, answered.signal)]);
    },
  };
}

/** Asks again for every country that rails pay to, once its list is too old; after a failure sooner, with back-off. */
function startRenewal({ rails, ttlMs, clock, logger }: ProcessorsDeps, cache: ListingCache): Loop {
  const countries = [
    ...new Set(rails.all.flatMap(({ payouts }) => payouts?.routes.map(({ country }) => country) ?? [])),
  ];
  const retries = new Map<string, { readonly failures: number; readonly atMs: number }>();
  const isFresh = (country: string) =>
    servingRails(rails.all, country).every(
      (rail) => clock.nowMs() - (cache.get(country, rail)?.fetchedAtMs ?? 0) < ttlMs,
    );
  const renew = async (country: string): Promise<void> => {
    if (isFresh(country) || clock.nowMs() < (retries.get(country)?.atMs ?? 0)) return;
    await cache.ask(country);
    const failures = isFresh(country) ? 0 : (retries.get(country)?.failures ?? 0) + 1;
    const backoffMs = failures === 0 ? 0 : Math.min(BACKOFF_MS.last, BACKOFF_MS.first * 2 ** (failures - 1));
    retries.set(country, { failures, atMs: clock.nowMs() + backoffMs });
  };
  return startLoop({
    name: 'processors',
    pauseMs: CHECK_PAUSE_MS,
    clock,
    logger,
    round: async (signal) => {
      const closed = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await Promise.race([Promise.all(countries.map(renew)), closed]);
      return false;
    },
  });
}

function servingRails(all: Rails['all'], country: string): readonly PayoutRail[] {
  return all
    .filter(takesPayouts)
    .filter(({ payouts }) => payouts.routes.some((route) => route.country === country));
}

/** The first rail that has the processor; else the reason of the rail that came closest. */
function chooseRail(
  cache: ListingCache,
  candidates: readonly PayoutRail[],
  { country, currency, bankCode }: PayoutDestination,
): Route {
  let why: 'unknown' | 'inactive' | 'blocked' = 'unknown';
  for (const rail of candidates) {
    const processor = cache.get(country, rail)?.byCode.get(codeKey(currency, bankCode));
    if (!processor) continue;
    if (isUsable(processor)) return { kind: 'routed', rail: rail.name };
    if (processor.blockTransaction) why = 'blocked';
    else if (why === 'unknown') why = 'inactive';
  }
  return { kind: 'noProcessor', why };
}

/** Each processor once: in the version of the first rail that can pay there, else of the first rail that lists it. */
function mergeListings(
  cache: ListingCache,
  country: string,
  serving: readonly PayoutRail[],
): readonly Processor[] {
  const united = new Map<string, Processor>();
  for (const processor of serving.flatMap((rail) => cache.get(country, rail)?.processors ?? [])) {
    const key = codeKey(processor.currency, processor.code);
    const earlier = united.get(key);
    if (!earlier || (!isUsable(earlier) && isUsable(processor))) united.set(key, processor);
  }
  return [...united.values()];
}

/** A rail's latest list of a country's processors. */
export interface RailListing {
  /** Three letters. */
  readonly country: string;
  readonly rail: string;
  readonly fetchedAt: Date;
  readonly processors: readonly Processor[];
}

/** The collection `processors`: a gateway that starts while a rail is down can serve the last known list. */
export type ListingStore = ReturnType<typeof openListingStore>;

/** Opens the store; the `_id` of a listing is `country:rail`. */
export function openListingStore(db: Db) {
  const collection = db.collection<RailListing & { readonly _id: string }>('processors');
  return {
    all: (): Promise<readonly RailListing[]> => collection.find({}, { projection: { _id: 0 } }).toArray(),
    save: async (listing: RailListing): Promise<void> => {
      const _id = `${listing.country}:${listing.rail}`;
      await collection.replaceOne({ _id }, listing, { upsert: true });
    },
  };
}

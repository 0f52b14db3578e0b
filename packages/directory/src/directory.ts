import { type Clock, withDeadline } from '@pesewa/kernel';
import { bulkhead } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { HEADER_LENGTH_MAX, hashOfHeader, isLive } from './keys.ts';
import { type Merchant, type MerchantDocument, type MerchantKey, readMerchant } from './merchant.ts';

/** Whom a key header names: a merchant, and by which of its keys. */
export interface KeyHolder {
  readonly merchant: Merchant;
  readonly key: MerchantKey;
}

/** Merchants' settings, read through a short cache; a change is seen everywhere once the cache's time is over. */
export type Directory = ReturnType<typeof createDirectory>;

/** Where merchants are read from. */
export interface MerchantLoader {
  readonly byKeyHash: (keyHash: string) => Promise<Merchant | undefined>;
  readonly byId: (merchantId: string) => Promise<Merchant | undefined>;
}

const TTL_MS = 5_000;
const ABSENT_TTL_MS = 1_000;
const SIZE_MAX = 10_000;
const READ_TIMEOUT_MS = 3_000;
/**
 * Limits for keys that had no merchant when last looked up: strangers can invent such keys without end, and the
 * lookups share our connections.
 */
const STRANGERS = { readingMax: 4, waitingMax: 256 } as const;
const noMerchant = Promise.resolve(undefined);

/** The collection of the `directory` database that holds the merchants. */
export const MERCHANTS = 'merchants';

/** Opens the directory over the database `directory`, of a client with `useBigInt64: true`. */
export function createDirectory(options: {
  readonly db: Db;
  readonly clock: Clock;
  readonly ttlMs?: number | undefined;
}) {
  const merchants = options.db.collection<MerchantDocument>(MERCHANTS);
  const load = async (filter: { readonly 'keys.hash': string } | { readonly _id: string }) => {
    const document = await merchants.findOne(filter, { maxTimeMS: READ_TIMEOUT_MS });
    return document === null ? undefined : readMerchant(document);
  };
  const loader: MerchantLoader = {
    byKeyHash: (keyHash) => load({ 'keys.hash': keyHash }),
    byId: (_id) => load({ _id }),
  };
  return {
    ...createCachedDirectory({ loader, clock: options.clock, ttlMs: options.ttlMs }),
    /** The ids of the merchants in order, at most so many; read from their index alone. */
    ids: async (most: number): Promise<readonly string[]> => {
      const found = merchants.find({}, { projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT_MS });
      return (await found.sort({ _id: 1 }).limit(most).toArray()).map(({ _id }) => _id);
    },
  };
}

/** Builds the directory over any loader. */
export function createCachedDirectory(options: {
  readonly loader: MerchantLoader;
  readonly clock: Clock;
  readonly ttlMs?: number | undefined;
}) {
  const { loader, clock } = options;
  const ttlMs = options.ttlMs ?? TTL_MS;
  const bounds = { clock, ttlMs, absentTtlMs: Math.min(ttlMs, ABSENT_TTL_MS), sizeMax: SIZE_MAX };
  const strangers = bulkhead(STRANGERS.readingMax, STRANGERS.waitingMax);
  const byHeader = createCache<KeyHolder>({
    ...bounds,
    load: async (headerValue, wasPresent) => {
      const keyHash = hashOfHeader(headerValue);
      if (keyHash === undefined) return undefined;
      const read = () => withDeadline(loader.byKeyHash(keyHash), READ_TIMEOUT_MS, clock);
      const merchant = await (wasPresent ? read() : strangers.execute(read));
      const key = merchant?.keys.find(({ hash }) => hash === keyHash);
      return merchant && key && isLive(key, clock.nowMs()) ? { merchant, key } : undefined;
    },
    endsAtMs: ({ key }) => key.expiresAt?.getTime(),
  });
  const byId = createCache<Merchant>({
    ...bounds,
    load: (id) => withDeadline(loader.byId(id), READ_TIMEOUT_MS, clock),
  });
  return {
    /**
     * The merchant of a key header's value (contract 5), even a suspended one, and the key; undefined for one that is unknown
     * or has expired. What the key is for is not judged.
     *
     * Rejects if the database can't answer, or if too many unknown keys are being looked up at once.
     */
    // An overlong value is no key and must not take room in the cache.
    identify: (headerValue: string): Promise<KeyHolder | undefined> =>
      headerValue.length > HEADER_LENGTH_MAX ? noMerchant : byHeader.get(headerValue),
    find: byId.get,
  };
}

interface Entry<Value> {
  /** Already resolved, so that a hit makes no new promise. */
  readonly answer: Promise<Value | undefined>;
  readonly askedAtMs: number;
  readonly endsAtMs: number;
}

/**
 * Builds a cache over a loader, with at most one load per key at a time; failures are not cached.
 *
 * Keys without a value are cached apart and for a shorter time, so that a flood of unknown keys can't evict the known
 * ones.
 */
function createCache<Value>(options: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ttlMs: number;
  readonly absentTtlMs: number;
  readonly sizeMax: number;
  /** `wasPresent` says whether the key had a value when it was last loaded. */
  readonly load: (key: string, wasPresent: boolean) => Promise<Value | undefined>;
  /** When a value ends before its time in the cache does; it is loaded again from then on. */
  readonly endsAtMs?: (value: Value) => number | undefined;
}) {
  const { clock, sizeMax } = options;
  const present = new LRUCache<string, Entry<Value>>({ max: sizeMax });
  const absent = new LRUCache<string, Entry<Value>>({ max: sizeMax });
  const loading = new Map<string, Promise<Value | undefined>>();

  // Aged here and not by the cache, for which a clock that was set back would make entries last longer.
  const fresh = (entries: LRUCache<string, Entry<Value>>, key: string, ttlMs: number) => {
    const entry = entries.get(key);
    if (!entry) return undefined;
    const nowMs = clock.nowMs();
    const ageMs = nowMs - entry.askedAtMs;
    return ageMs >= 0 && ageMs < ttlMs && nowMs < entry.endsAtMs ? entry.answer : undefined;
  };
  const load = async (key: string) => {
    // The age counts from the start of the load, so that a change made during it is seen in time.
    const askedAtMs = clock.nowMs();
    try {
      const value = await options.load(key, present.has(key));
      const answer = Promise.resolve(value);
      const endsAtMs = (value === undefined ? undefined : options.endsAtMs?.(value)) ?? Infinity;
      (value === undefined ? absent : present).set(key, { answer, askedAtMs, endsAtMs });
      (value === undefined ? present : absent).delete(key);
      return value;
    } finally {
      loading.delete(key);
    }
  };

  return {
    get: (key: string): Promise<Value | undefined> => {
      const known =
        fresh(present, key, options.ttlMs) ?? fresh(absent, key, options.absentTtlMs) ?? loading.get(key);
      if (known) return known;
      const pending = load(key);
      loading.set(key, pending);
      return pending;
    },
  };
}

import type { Clock } from '@pesewa/kernel';

/** A read-through cache with at most one load per key at a time; failures are not cached. */
export interface Cache<Value> {
  readonly get: (key: string) => Promise<Value | undefined>;
}

interface Entry<Value> {
  /** Already resolved, so that a hit makes no new promise. */
  readonly answer: Promise<Value | undefined>;
  readonly askedAtMs: number;
}

/**
 * Builds a cache over a loader.
 *
 * Keys without a value are cached apart and for a shorter time, so that a flood of unknown keys can't evict the known
 * ones.
 */
export function createCache<Value>(options: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ttlMs: number;
  readonly absentTtlMs: number;
  readonly sizeMax: number;
  /** `wasPresent` says whether the key had a value when it was last loaded. */
  readonly load: (key: string, wasPresent: boolean) => Promise<Value | undefined>;
}): Cache<Value> {
  const { clock, sizeMax } = options;
  const present = new Map<string, Entry<Value>>();
  const absent = new Map<string, Entry<Value>>();
  const loading = new Map<string, Promise<Value | undefined>>();

  const fresh = (entries: Map<string, Entry<Value>>, key: string, ttlMs: number) => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    // A clock that was set back gives a negative age. Such an entry counts as stale.
    const ageMs = clock.nowMs() - entry.askedAtMs;
    if (ageMs < 0 || ageMs >= ttlMs) return undefined;
    // A map keeps the order of insertion, so the first key is the least recently used one.
    entries.delete(key);
    entries.set(key, entry);
    return entry.answer;
  };
  const keep = (entries: Map<string, Entry<Value>>, key: string, entry: Entry<Value>) => {
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size <= sizeMax) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  };
  const load = async (key: string) => {
    // The age counts from the start of the load, so that a change made during it is seen in time.
    const askedAtMs = clock.nowMs();
    try {
      const value = await options.load(key, present.has(key));
      const answer = Promise.resolve(value);
      keep(value === undefined ? absent : present, key, { answer, askedAtMs });
      (value === undefined ? present : absent).delete(key);
      return value;
    } finally {
      loading.delete(key);
    }
  };

  return {
    get: (key) => {
      const known =
        fresh(present, key, options.ttlMs) ?? fresh(absent, key, options.absentTtlMs) ?? loading.get(key);
      if (known) return known;
      const pending = load(key);
      loading.set(key, pending);
      return pending;
    },
  };
}

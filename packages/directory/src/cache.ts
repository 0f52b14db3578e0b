import type { Clock } from '@pesewa/kernel';
import { LRUCache } from 'lru-cache';

/** A read-through cache with at most one load per key at a time; failures are not cached. */
export interface Cache<Value> {
  readonly get: (key: string) => Promise<Value | undefined>;
}

interface Entry<Value> {
  /** Already resolved, so that a hit makes no new promise. */
  readonly answer: Promise<Value | undefined>;
  readonly askedAtMs: number;
  readonly endsAtMs: number;
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
  /** When a value ends before its time in the cache does; it is loaded again from then on. */
  readonly endsAtMs?: (value: Value) => number | undefined;
}): Cache<Value> {
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

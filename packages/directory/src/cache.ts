import type { Clock } from '@pesewa/kernel';

/** A read-through cache; one load per key at a time, failures are not kept. */
export interface Cache<Value> {
  readonly get: (key: string) => Promise<Value | undefined>;
}

interface Entry<Value> {
  /** Settled already, so that a hit makes no new promise. */
  readonly answer: Promise<Value | undefined>;
  readonly askedAtMs: number;
}

/**
 * Builds a cache over a loader.
 *
 * What is absent is kept apart and for a shorter time: a flood of unknown keys can't push the known ones out.
 */
export function createCache<Value>(options: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ttlMs: number;
  readonly absentTtlMs: number;
  readonly sizeMax: number;
  /** Told whether the key had a value when it was last asked for. */
  readonly load: (key: string, wasPresent: boolean) => Promise<Value | undefined>;
}): Cache<Value> {
  const { clock, sizeMax } = options;
  const present = new Map<string, Entry<Value>>();
  const absent = new Map<string, Entry<Value>>();
  const loading = new Map<string, Promise<Value | undefined>>();

  const fresh = (entries: Map<string, Entry<Value>>, key: string, ttlMs: number) => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    // A clock that was set back gives a negative age, which says nothing: the entry is stale.
    const ageMs = clock.nowMs() - entry.askedAtMs;
    if (ageMs < 0 || ageMs >= ttlMs) return undefined;
    // A map keeps the order of insertion, so the first key is the one unused the longest.
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
    // The age counts from the question: a change made while it was under way is seen in time.
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

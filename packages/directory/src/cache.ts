import type { Clock } from '@pesewa/kernel';

/** A read-through cache; one load per key at a time, failures are not kept. */
export interface Cache<Value> {
  readonly get: (key: string) => Promise<Value | undefined>;
}

interface Entry<Value> {
  /** Settled already, so that a hit makes no new promise. */
  readonly answer: Promise<Value | undefined>;
  readonly expiresAtMs: number;
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
  readonly load: (key: string) => Promise<Value | undefined>;
}): Cache<Value> {
  const { clock, sizeMax } = options;
  const present = new Map<string, Entry<Value>>();
  const absent = new Map<string, Entry<Value>>();
  const loading = new Map<string, Promise<Value | undefined>>();

  const fresh = (entries: Map<string, Entry<Value>>, key: string, nowMs: number) => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    if (entry.expiresAtMs <= nowMs) return undefined;
    // A map keeps the order of insertion, so the first key is the one unused the longest.
    entries.set(key, entry);
    return entry.answer;
  };
  const keep = (entries: Map<string, Entry<Value>>, key: string, entry: Entry<Value>) => {
    entries.set(key, entry);
    if (entries.size <= sizeMax) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  };
  const load = async (key: string) => {
    // The age counts from the question: a change made while it was under way is seen in time.
    const askedAtMs = clock.nowMs();
    try {
      const value = await options.load(key);
      const answer = Promise.resolve(value);
      if (value === undefined) keep(absent, key, { answer, expiresAtMs: askedAtMs + options.absentTtlMs });
      else keep(present, key, { answer, expiresAtMs: askedAtMs + options.ttlMs });
      return value;
    } finally {
      loading.delete(key);
    }
  };

  return {
    get: (key) => {
      const nowMs = clock.nowMs();
      const known = fresh(present, key, nowMs) ?? fresh(absent, key, nowMs) ?? loading.get(key);
      if (known) return known;
      const pending = load(key);
      loading.set(key, pending);
      return pending;
    },
  };
}

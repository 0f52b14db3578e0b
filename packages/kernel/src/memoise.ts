import type { Clock } from './clock.ts';

/** A function that makes each value once, such as a formatter of `Intl`, which takes long to make; for few keys, as it forgets none. */
export function memoise<Key, Value extends object>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** How old a reading may be. */
const AGE_MS_MAX = 5_000;

/** Shares a reading, also one that fails, among all who ask within five seconds: however many people look, it is made once. */
export function sharedReading<Value>(
  clock: Pick<Clock, 'nowMs'>,
  read: () => Promise<Value>,
): () => Promise<Value> {
  let newest: { readonly atMs: number; readonly value: Promise<Value> } | undefined;
  return () => {
    const nowMs = clock.nowMs();
    // No reading lasts for long because the clock was set back.
    if (!newest || Math.abs(nowMs - newest.atMs) >= AGE_MS_MAX) newest = { atMs: nowMs, value: read() };
    return newest.value;
  };
}

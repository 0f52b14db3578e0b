import { type Loop, startLoop } from '@pesewa/messaging';

/**
 * Starts a loop of its own for each name that turns up, as soon as it does: what is found by one name alone is found by
 * keys, already in order, and what is found by all but some would be sorted whole for each look.
 *
 * A loop that was started stays until all of them are closed: it costs a look per pause.
 */
export function startLanesAsFound(
  options: Omit<Parameters<typeof startLoop>[0], 'round'> & {
    /** The names that there are now. */
    readonly found: () => Promise<readonly string[]>;
    readonly begin: (name: string) => Loop;
  },
): Loop {
  const lanes = new Map<string, Loop>();
  const scout = startLoop({
    ...options,
    round: async (signal) => {
      const names = await options.found();
      for (const name of names) if (!signal.aborted && !lanes.has(name)) lanes.set(name, options.begin(name));
      return false;
    },
  });
  return {
    wake: () => {
      for (const loop of [scout, ...lanes.values()]) loop.wake();
    },
    [Symbol.asyncDispose]: async () => {
      await scout[Symbol.asyncDispose]();
      await Promise.all([...lanes.values()].map((lane) => lane[Symbol.asyncDispose]()));
    },
  };
}

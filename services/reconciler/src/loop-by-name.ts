import { type Loop, startLoop } from '@pesewa/messaging';

/**
 * Starts a separate loop for each name as soon as it appears. A query for one name is served from the index, already
 * sorted; a query for all names but some would be sorted completely at each check.
 *
 * A loop runs until all of them are closed; it costs one query per pause.
 */
export function startLoopByName(
  options: Omit<Parameters<typeof startLoop>[0], 'round'> & {
    /** The present names. */
    readonly found: () => Promise<readonly string[]>;
    readonly begin: (name: string) => Loop;
  },
): Loop {
  const loops = new Map<string, Loop>();
  const scout = startLoop({
    ...options,
    round: async (signal) => {
      const names = await options.found();
      for (const name of names) if (!signal.aborted && !loops.has(name)) loops.set(name, options.begin(name));
      return false;
    },
  });
  return {
    wake: () => allOf([scout, ...loops.values()]).wake(),
    [Symbol.asyncDispose]: async () => {
      await scout[Symbol.asyncDispose]();
      await allOf([...loops.values()])[Symbol.asyncDispose]();
    },
  };
}

/** Several loops as one. */
export function allOf(loops: readonly Loop[]): Loop {
  return {
    wake: () => {
      for (const loop of loops) loop.wake();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}

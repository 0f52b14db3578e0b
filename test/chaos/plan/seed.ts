/** The seed of every test run, which covers what `seed.test.ts` asks for. */
export const usualSeed = 13;

/** How long it breaks things. */
export const usualLoadMs = 30_000;

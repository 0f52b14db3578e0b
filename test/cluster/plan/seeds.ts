/** The seed of every test run. */
export const usualSeed = 4;

/** How long things break in it: the one round that it needs. */
export const usualLoadMs = 60_000;

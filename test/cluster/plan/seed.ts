/** The seed of every test run. */
export const usualSeed = 4;

/** How long it breaks things: the one round that it needs. */
export const usualLoadMs = 45_000;

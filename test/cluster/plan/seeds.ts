/** The seeds of every test run: an even one and an odd one (see `planSteps`). */
export const usualSeeds: readonly number[] = [4, 7];

/** The duration of their runs: the one round that each needs. */
export const usualLoadMs = 60_000;

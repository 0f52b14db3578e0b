/** The seeds that every test run goes by: one that is even and one that is odd (see `planSteps`). */
export const usualSeeds: readonly number[] = [4, 7];

/** What a run of them is given: the one round that it needs. */
export const usualLoadMs = 60_000;

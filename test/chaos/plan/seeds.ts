/** The seeds that every test run goes by, each on a stack of its own; together they reach what `seeds.test.ts` asks for. */
export const usualSeeds: readonly number[] = [13, 269];

/** How long each of them breaks things. */
export const usualLoadMs = 20_000;

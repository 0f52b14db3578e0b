/** The seeds of every test run, each on its own stack; together they cover what `seeds.test.ts` asks for. */
export const usualSeeds: readonly number[] = [13, 269];

/** How long each of them breaks things. */
export const usualLoadMs = 20_000;

/** The simulator's money: one balance per currency, in minor units. */
export type Wallets = ReturnType<typeof createWallets>;

/** Builds the wallets with their initial balances. */
export function createWallets(initial: ReadonlyMap<string, bigint>) {
  const balances = new Map(initial);
  const balance = (currency: string) => balances.get(currency) ?? 0n;
  return {
    balance,
    move: (currency: string, byMinor: bigint) => void balances.set(currency, balance(currency) + byMinor),
    set: (currency: string, minor: bigint) => void balances.set(currency, minor),
    list: () => [...balances].map(([currency, minor]) => ({ currency, minor })),
  };
}

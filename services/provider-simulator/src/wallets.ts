/** The simulator's money: one balance per currency, in minor units. */
export interface Wallets {
  readonly balance: (currency: string) => bigint;
  readonly move: (currency: string, byMinor: bigint) => void;
  readonly set: (currency: string, minor: bigint) => void;
  readonly list: () => readonly { readonly currency: string; readonly minor: bigint }[];
}

/** Builds the wallets with their initial balances. */
export function createWallets(initial: ReadonlyMap<string, bigint>): Wallets {
  const balances = new Map(initial);
  const balance = (currency: string) => balances.get(currency) ?? 0n;
  return {
    balance,
    move: (currency, byMinor) => void balances.set(currency, balance(currency) + byMinor),
    set: (currency, minor) => void balances.set(currency, minor),
    list: () => [...balances].map(([currency, minor]) => ({ currency, minor })),
  };
}

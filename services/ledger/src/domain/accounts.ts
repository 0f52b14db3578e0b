const WALLET = 'wallet:';
const FLOAT = 'float:';

/** The names of the accounts that entries name as their legs (design 5); a wallet has two. */
export const accounts = {
  available: (wallet: string) => `${WALLET}${wallet}:available`,
  held: (wallet: string) => `${WALLET}${wallet}:held`,
  /** Our money at a rail: an asset, its balance is debits less credits. */
  float: (rail: string, currency: string) => `${FLOAT}${rail}:${currency}`,
  feeIncome: (currency: string) => `feeIncome:${currency}`,
  railCost: (currency: string) => `railCost:${currency}`,
  treasury: (currency: string) => `treasury:${currency}`,
} as const;

/** Whether an account is one leg of a wallet, whose balance is kept in the wallet itself. */
export function isWalletAccount(account: string): boolean {
  return account.startsWith(WALLET);
}

/** The first letters of every float's name. */
export const floatPrefix = FLOAT;

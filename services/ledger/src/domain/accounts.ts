import { growsByDebits } from '@pesewa/contracts';

const WALLET = 'wallet:';
const FLOAT = 'float:';

/** The names of the accounts that entries have as legs; a wallet has two accounts. */
export const accounts = {
  available: (wallet: string) => `${WALLET}${wallet}:available`,
  held: (wallet: string) => `${WALLET}${wallet}:held`,
  /** Our money at a rail. */
  float: (rail: string, currency: string) => `${FLOAT}${rail}:${currency}`,
  feeIncome: (currency: string) => `feeIncome:${currency}`,
  railCost: (currency: string) => `railCost:${currency}`,
  /** Our money at the bank, from which wallets and floats are funded. */
  treasury: (currency: string) => `treasury:${currency}`,
  /** Money that no record explains, until a break about it is resolved. */
  suspense: (currency: string) => `suspense:${currency}`,
} as const;

/** Whether an account is one of a wallet's two, whose balances are kept in the wallet itself. */
export function isWalletAccount(account: string): boolean {
  return account.startsWith(WALLET);
}

/** What a movement adds to each of the two accounts of a wallet, given as `merchantId:currency`. */
export function movedOnWallet(
  wallet: string,
  { debit, credit, amount }: { readonly debit: string; readonly credit: string; readonly amount: bigint },
): { readonly available: bigint; readonly held: bigint } {
  const moved = (account: string) => (credit === account ? amount : 0n) - (debit === account ? amount : 0n);
  return { available: moved(accounts.available(wallet)), held: moved(accounts.held(wallet)) };
}

/** The prefix of every float's name. */
export const floatPrefix = FLOAT;

/** The debits and credits of a shared account, in minor units. */
export interface Turnover {
  readonly debits: bigint;
  readonly credits: bigint;
}

/**
 * The balance of a shared account: debits less credits for what we own or spent, credits less debits for what we owe or
 * earned.
 */
export function balanceOf(account: string, { debits, credits }: Turnover): bigint {
  return growsByDebits(account) ? debits - credits : credits - debits;
}

/** The currency of an account: the last part of its name. */
export function currencyOf(account: string): string {
  return account.slice(account.lastIndexOf(':') + 1);
}

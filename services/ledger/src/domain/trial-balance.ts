import { currencyOf, type Turnover } from './accounts.ts';

/** The sums of all wallets of a currency. */
export interface WalletSums {
  readonly currency: string;
  readonly available: bigint;
  readonly held: bigint;
}

/** One line of a trial balance: an account's balance in minor units, on the side where it is. */
export interface TrialLine {
  readonly currency: string;
  readonly account: string;
  readonly debit: bigint;
  readonly credit: bigint;
}

/**
 * All accounts of the books by currency and name, with the wallets as two sums; where the books are whole, a currency's debits
 * are its credits.
 */
export function trialBalance(
  wallets: readonly WalletSums[],
  shared: readonly ({ readonly account: string } & Turnover)[],
): readonly TrialLine[] {
  const lines = [
    ...shared.map(({ account, debits, credits }) => lineOf(currencyOf(account), account, debits - credits)),
    // What wallets hold is owed to merchants.
    ...wallets.flatMap(({ currency, available, held }) => [
      lineOf(currency, `wallets:available:${currency}`, -available),
      lineOf(currency, `wallets:held:${currency}`, -held),
    ]),
  ];
  const keyOf = ({ currency, account }: TrialLine) => `${currency} ${account}`;
  return lines.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function lineOf(currency: string, account: string, minor: bigint): TrialLine {
  return { currency, account, debit: minor > 0n ? minor : 0n, credit: minor < 0n ? -minor : 0n };
}

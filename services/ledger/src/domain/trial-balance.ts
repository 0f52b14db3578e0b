import { balanceOf, currencyOf, floatPrefix, type Turnover } from './accounts.ts';

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

/** A sum of the books in minor units. */
export interface Sum {
  readonly account: string;
  readonly currency: string;
  readonly balance: bigint;
}

/** What of the books waits for people: suspense that is not zero, and floats that are overdrawn or together less than what open payouts of their currency hold. */
export function sumsForPeople(
  wallets: readonly WalletSums[],
  shared: readonly ({ readonly account: string } & Turnover)[],
): { readonly suspense: readonly Sum[]; readonly lowFloats: readonly (Sum & { readonly held: bigint })[] } {
  const of = (prefix: string) =>
    shared
      .filter(({ account }) => account.startsWith(prefix))
      .map(
        ({ account, ...moved }): Sum => ({
          account,
          currency: currencyOf(account),
          balance: balanceOf(account, moved),
        }),
      );
  const floats = of(floatPrefix);
  const lowFloats = floats.flatMap((float) => {
    const ofCurrency = floats.filter(({ currency }) => currency === float.currency);
    const all = ofCurrency.reduce((total, { balance }) => total + balance, 0n);
    const held = wallets.find(({ currency }) => currency === float.currency)?.held ?? 0n;
    return float.balance < 0n || all < held ? [{ ...float, held }] : [];
  });
  return { suspense: of('suspense:').filter(({ balance }) => balance !== 0n), lowFloats };
}

function lineOf(currency: string, account: string, minor: bigint): TrialLine {
  return { currency, account, debit: minor > 0n ? minor : 0n, credit: minor < 0n ? -minor : 0n };
}

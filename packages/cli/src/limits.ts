import { readCurrency, readPair } from './arguments.ts';
import { readAmount } from './fees.ts';

/** What the limits on amounts are called as options. */
export const limitNames = {
  perPayoutMin: 'payoutMin',
  perPayoutMax: 'payoutMax',
  perDayMax: 'dayMax',
  perBeneficiaryPerDayMax: 'beneficiaryDayMax',
  perCollectionMin: 'collectionMin',
  perCollectionMax: 'collectionMax',
  collectionsPerDayMax: 'collectionDayMax',
} as const;

/** Reads each of the limits on amounts. */
export const limitReaders = Object.fromEntries(Object.keys(limitNames).map((name) => [name, readAmounts]));

/** Reads amounts by currency, such as `GHS:5000`; `GHS:none` takes a limit away. */
function readAmounts(
  label: string,
  _: string,
  all: readonly string[],
): Readonly<Record<string, string | null>> {
  const amounts = all.map((text) => {
    const [currencyText, amount] = readPair(label, text, 'currency:amount, such as GHS:5000, or GHS:none');
    const currency = readCurrency(label, currencyText);
    return [currency, amount === 'none' ? null : readAmount(label, amount, currency)] as const;
  });
  return Object.fromEntries(amounts);
}

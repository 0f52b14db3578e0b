import type { AnswerOf, accountOperations } from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import { ClientError } from './errors.ts';

/** A line of the trial balance. */
export type TrialLine = AnswerOf<typeof accountOperations.trialBalance>['items'][number];

/** Both sides of the trial balance in one currency, in minor units. */
export interface CurrencySums {
  readonly currency: string;
  readonly debits: bigint;
  readonly credits: bigint;
}

/** The sums of a trial balance, by currency in the order of its lines. */
export function sumsByCurrency(lines: readonly TrialLine[]): readonly CurrencySums[] {
  return [...Map.groupBy(lines, ({ currency }) => currency)].map(([currency, own]) => {
    const sum = (side: 'debit' | 'credit') =>
      own.reduce((total, line) => total + minorOf(line[side], currency), 0n);
    return { currency, debits: sum('debit'), credits: sum('credit') };
  });
}

/** An amount that the ledger wrote, in minor units. */
export function minorOf(text: string, currency: string): bigint {
  const amount = parseAmount(text, currency);
  if (!amount.ok) throw new ClientError(`ledger: ${text} is no amount in ${currency}`);
  return amount.value.minor;
}

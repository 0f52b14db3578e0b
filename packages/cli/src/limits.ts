import type { Wanted } from '@pesewa/contracts';
import type { Command } from 'commander';
import { collect, readCount, readCurrency, readPair } from './arguments.ts';
import { readAmount } from './fees.ts';

/** A merchant's limits as given on the command line; omitted ones stay. */
export interface LimitOptions {
  readonly requestsPerSecond?: string;
  readonly nameEnquiriesPerMinute?: string;
  readonly collectionsPerNumberPerHour?: string;
  readonly payoutsPerBeneficiaryPerDay?: string;
  readonly payoutMin?: readonly string[];
  readonly payoutMax?: readonly string[];
  readonly dayMax?: readonly string[];
  readonly beneficiaryDayMax?: readonly string[];
  readonly collectionMin?: readonly string[];
  readonly collectionMax?: readonly string[];
  readonly collectionDayMax?: readonly string[];
}

/** Adds the options that set limits. */
export function addLimitOptions(command: Command): Command {
  return command
    .option('--requests-per-second <count>', 'how many requests it may send')
    .option('--name-enquiries-per-minute <count>', 'how many name enquiries it may make')
    .option(
      '--collections-per-number-per-hour <count>',
      "how often it may ask one customer's number to pay; 1000000 is no limit",
    )
    .option(
      '--payouts-per-beneficiary-per-day <count>',
      'how many payouts to one account are accepted in one UTC day, or none for no limit',
    )
    .option(...amountOption('payout-min', 'smallest single payout'))
    .option(...amountOption('payout-max', 'largest single payout'))
    .option(...amountOption('day-max', 'most that is accepted for payouts in one UTC day'))
    .option(...amountOption('beneficiary-day-max', 'most for payouts to one account in one UTC day'))
    .option(...amountOption('collection-min', 'smallest collection'))
    .option(...amountOption('collection-max', 'largest collection'))
    .option(...amountOption('collection-day-max', 'most that is accepted for collections in one UTC day'));
}

const amountOption = (name: string, what: string) =>
  [
    `--${name} <currency:amount>`,
    `${what}, as GHS:5000, or GHS:none; may be given several times`,
    collect,
  ] as const;

/** The limits that the options change; those not given stay. */
export function readLimits(options: LimitOptions): Wanted<'limits'> {
  const perBeneficiary = options.payoutsPerBeneficiaryPerDay;
  return {
    requestsPerSecond: readGiven('--requests-per-second', options.requestsPerSecond),
    nameEnquiriesPerMinute: readGiven('--name-enquiries-per-minute', options.nameEnquiriesPerMinute),
    collectionsPerNumberPerHour: readGiven(
      '--collections-per-number-per-hour',
      options.collectionsPerNumberPerHour,
    ),
    payoutsPerBeneficiaryPerDay:
      perBeneficiary === 'none' ? null : readGiven('--payouts-per-beneficiary-per-day', perBeneficiary),
    perPayoutMin: readAmounts('--payout-min', options.payoutMin),
    perPayoutMax: readAmounts('--payout-max', options.payoutMax),
    perDayMax: readAmounts('--day-max', options.dayMax),
    perBeneficiaryPerDayMax: readAmounts('--beneficiary-day-max', options.beneficiaryDayMax),
    perCollectionMin: readAmounts('--collection-min', options.collectionMin),
    perCollectionMax: readAmounts('--collection-max', options.collectionMax),
    collectionsPerDayMax: readAmounts('--collection-day-max', options.collectionDayMax),
  };
}

function readGiven(field: string, given: string | undefined): number | undefined {
  return given === undefined ? undefined : readCount(field, given);
}

function readAmounts(
  field: string,
  given: readonly string[] | undefined,
): Record<string, string | null> | undefined {
  const amounts = given?.map((text) => {
    const [currencyText, amount] = readPair(field, text, 'currency:amount, such as GHS:5000, or GHS:none');
    const currency = readCurrency(field, currencyText);
    return [currency, amount === 'none' ? null : readAmount(field, amount, currency)] as const;
  });
  return amounts && Object.fromEntries(amounts);
}

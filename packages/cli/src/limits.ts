import type { MerchantLimits } from '@pesewa/directory';
import type { Command } from 'commander';
import { collect, readCount, readCurrency, readPair } from './arguments.ts';
import { readMinor } from './fees.ts';

/** A merchant's limits as given on the command line; omitted ones stay. */
export interface LimitOptions {
  readonly requestsPerSecond?: string;
  readonly nameEnquiriesPerMinute?: string;
  readonly collectionsPerNumberPerHour?: string;
  readonly payoutMax?: readonly string[];
  readonly dayMax?: readonly string[];
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
      '--payout-max <currency:amount>',
      'largest single payout, as GHS:5000, or GHS:none; may be given several times',
      collect,
    )
    .option(
      '--day-max <currency:amount>',
      'most that is accepted for payouts in one UTC day, as GHS:50000, or GHS:none; may be given several times',
      collect,
    );
}

/** The merchant's present limits with the changes of the options. */
export function readLimits(options: LimitOptions, present: MerchantLimits): MerchantLimits {
  const perPayoutMaxMinor = readMaxima('--payout-max', options.payoutMax, present.perPayoutMaxMinor);
  const perDayMaxMinor = readMaxima('--day-max', options.dayMax, present.perDayMaxMinor);
  const enquiries = readChange(
    '--name-enquiries-per-minute',
    options.nameEnquiriesPerMinute,
    present.nameEnquiriesPerMinute,
  );
  const collections = readChange(
    '--collections-per-number-per-hour',
    options.collectionsPerNumberPerHour,
    present.collectionsPerNumberPerHour,
  );
  return {
    requestsPerSecond: readChange(
      '--requests-per-second',
      options.requestsPerSecond,
      present.requestsPerSecond,
    ),
    ...(perPayoutMaxMinor && { perPayoutMaxMinor }),
    ...(perDayMaxMinor && { perDayMaxMinor }),
    ...(enquiries !== undefined && { nameEnquiriesPerMinute: enquiries }),
    ...(collections !== undefined && { collectionsPerNumberPerHour: collections }),
  };
}

/** The given count, else the present one. */
function readChange<Present extends number | undefined>(
  field: string,
  given: string | undefined,
  present: Present,
): Present | number {
  return given === undefined ? present : readCount(field, given);
}

type Maxima = MerchantLimits['perPayoutMaxMinor'];

function readMaxima(field: string, given: readonly string[] = [], present: Maxima = {}): Maxima {
  const maxima = new Map(Object.entries(present));
  for (const text of given) {
    const [currencyText, amount] = readPair(field, text, 'currency:amount, such as GHS:5000, or GHS:none');
    const currency = readCurrency(field, currencyText);
    if (amount === 'none') maxima.delete(currency);
    else maxima.set(currency, readMinor(field, amount, currency));
  }
  return maxima.size > 0 ? Object.fromEntries(maxima) : undefined;
}

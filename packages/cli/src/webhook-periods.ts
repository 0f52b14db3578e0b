import type { Clock } from '@pesewa/kernel';
import { type Command, Option } from 'commander';
import { readTime, requireBefore } from './arguments.ts';
import { CliError } from './errors.ts';

/** The options that choose a merchant's webhooks by when they were created. */
export interface PeriodOptions {
  readonly merchant?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
}

/** Adds {@link PeriodOptions}. */
export function addPeriodOptions(command: Command, merchant: string): Command {
  return addTimeOptions(command.option('--merchant <merchant>', merchant));
}

/** Adds the times and the place to go on from. */
export function addTimeOptions(command: Command, { isFromRequired = false } = {}): Command {
  const from = new Option('--from <time>', 'with a merchant: created at or after this time');
  return command
    .addOption(isFromRequired ? from.makeOptionMandatory() : from)
    .option('--to <time>', 'with a merchant: created before this time')
    .option('--after <id>', 'only those that the list has after this webhook: to go on from there');
}

/** Reads {@link PeriodOptions}; times are those of one merchant. */
export function readPeriod({ merchant, from, to, after }: PeriodOptions, clock: Pick<Clock, 'nowMs'>) {
  if (merchant === undefined && (from ?? to) !== undefined)
    throw new CliError('--merchant: --from and --to are times of one merchant: name it');
  const start = from === undefined ? undefined : readTime('--from', from);
  const end = to === undefined ? undefined : readTime('--to', to);
  if (start) requireBefore(start, end ?? new Date(clock.nowMs()), from, to ?? 'now');
  return { merchantId: merchant, from: start?.toISOString(), to: end?.toISOString(), after };
}

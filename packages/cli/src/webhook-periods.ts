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
  const period = {
    merchantId: merchant,
    from: from === undefined ? undefined : readTime('--from', from).toISOString(),
    to: to === undefined ? undefined : readTime('--to', to).toISOString(),
  };
  checkPeriod(period, clock);
  return { ...period, after };
}

/** Refuses times without a merchant, and a period that ends before it begins. */
export function checkPeriod(
  { merchantId, from, to }: { readonly merchantId?: unknown; readonly from?: unknown; readonly to?: unknown },
  clock: Pick<Clock, 'nowMs'>,
): void {
  if (merchantId === undefined && (from ?? to) !== undefined)
    throw new CliError('--merchant: --from and --to are times of one merchant: name it');
  if (typeof from !== 'string') return;
  const end = typeof to === 'string' ? to : new Date(clock.nowMs()).toISOString();
  requireBefore(new Date(from), new Date(end), from, typeof to === 'string' ? to : 'now');
}

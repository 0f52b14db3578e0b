import type { Clock } from '@pesewa/kernel';
import { requireBefore } from './arguments.ts';
import { CliError } from './errors.ts';

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

import type { RailAvailabilityView } from '@pesewa/contracts';

const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 } as const;
const asNumber = new Intl.NumberFormat('en-GB', digits);
const asPercent = new Intl.NumberFormat('en-GB', { style: 'percent', ...digits });

/** A success rate, such as `98.7%`; null of too few payments. */
export const describeRate = (successRate: number | null): string =>
  successRate === null ? 'too few' : asPercent.format(successRate);

/** How long something took, such as `4.2 s`; null if that is not known. */
export function describeLength(lengthMs: number | null): string {
  if (lengthMs === null) return '–';
  return lengthMs < 60_000
    ? `${asNumber.format(lengthMs / 1_000)} s`
    : `${asNumber.format(lengthMs / 60_000)} min`;
}

/** How many payments have ended, of those that left for their rail. */
export const endedOf = ({
  completed,
  failed,
  reversed,
}: Pick<RailAvailabilityView, 'completed' | 'failed' | 'reversed'>): number =>
  completed + failed.customer + failed.rail + failed.other + reversed;

import type { RailAvailabilityView } from '@pesewa/contracts';

/** A success rate, such as `98.7%`; null of too few payments. */
export const describeRate = (successRate: number | null): string =>
  successRate === null ? 'too few' : `${(successRate * 100).toFixed(1)}%`;

/** How long something took, such as `4.2 s`; null if that is not known. */
export function describeLength(lengthMs: number | null): string {
  if (lengthMs === null) return '–';
  return lengthMs < 60_000 ? `${(lengthMs / 1_000).toFixed(1)} s` : `${(lengthMs / 60_000).toFixed(1)} min`;
}

/** How many payments have ended, of those that left for their rail. */
export const endedOf = ({ completed, failed }: Pick<RailAvailabilityView, 'completed' | 'failed'>): number =>
  completed + failed.customer + failed.rail + failed.other;

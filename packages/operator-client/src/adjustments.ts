import { createHash } from 'node:crypto';
import type { AdjustmentView, BreakDetailView } from '@pesewa/contracts';

/** The id of the next order for a break; it stays the same until one of its adjustments is added. */
export function nextCommandId({ id, adjustments }: Pick<BreakDetailView, 'id' | 'adjustments'>): string {
  const digest = createHash('sha256').update(`${id}\n${adjustments.length}`).digest('hex');
  return `bk-${digest.slice(0, 24)}`;
}

/** The adjustment that waits for the second operator, if any. */
export function pendingOf({ adjustments }: Pick<BreakDetailView, 'adjustments'>): AdjustmentView | undefined {
  return adjustments.find(({ status }) => status === 'proposed');
}

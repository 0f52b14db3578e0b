import { formatAmount } from '@pesewa/kernel';
import { isEnd } from './claim.ts';
import type { BreakKind } from './question.ts';
import type { Sighting } from './sightings.ts';
import { remember, type Tracked } from './tracked.ts';

/** A break of a payment whose cause has gone, and what made it go. */
export interface Closing {
  readonly kind: BreakKind;
  readonly resolution: string;
}

/** What is no discrepancy any more once the payment has ended, by whatever fact. */
const WHILE_OPEN: readonly BreakKind[] = [
  'collection.not_found',
  'payout.not_found',
  'payout.refused_again',
  'payment.stuck',
];

/**
 * The breaks that a sighting closes by itself (design 7): those that were about a payment that nobody knew, or that
 * did not end. Whatever contradicts something stays for people.
 */
export function closingsOf(before: Tracked, after: Tracked, sighting: Sighting): readonly Closing[] {
  const causes: Closing[] = [];
  if (before.terms === null && after.terms !== null && 'name' in sighting) {
    causes.push({
      kind: 'callback.unknown_reference',
      resolution: `the payment turned up: ${sighting.name}`,
    });
  }
  if (sighting.kind === 'ended' && !isEnd(before.status)) {
    const { name, status, terms } = sighting;
    for (const kind of WHILE_OPEN) causes.push({ kind, resolution: `the payment ended: ${name}` });
    if (status === 'completed' && terms.kind === 'collection') {
      const amount = `${formatAmount(terms.amount, terms.currency)} ${terms.currency}`;
      causes.push({
        kind: 'collection.amount_differs',
        resolution: `the collection completed with ${amount}`,
      });
    }
  }
  return causes.filter(({ kind }) => after.breaks.includes(kind));
}

/** The timeline with the breaks that were closed. */
export function afterClosings(tracked: Tracked, closings: readonly Closing[], nowMs: number): Tracked {
  let { history } = tracked;
  for (const { kind } of closings)
    history = remember(history, { what: 'resolved', detail: kind, atMs: nowMs });
  return { ...tracked, history };
}

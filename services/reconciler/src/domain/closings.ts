import { formatAmount } from '@pesewa/kernel';
import { differingClaim } from './amounts.ts';
import { isEnd } from './claim.ts';
import type { BreakKind } from './question.ts';
import type { Sighting } from './sightings.ts';
import { isUnknown, remember, type Terms, type Tracked } from './tracked.ts';
import { currencyOf, readMinor } from './values.ts';

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

/** The one break that an end settles, and a later callback may open again. */
const SETTLED: BreakKind = 'collection.amount_differs';

/**
 * The breaks that a sighting closes by itself (design 7): those that were about a payment that nobody knew, or that
 * did not end, or whose amount was in doubt until it completed with the one decided. Whatever contradicts something
 * stays for people.
 */
export function closingsOf(before: Tracked, after: Tracked, sighting: Sighting): readonly Closing[] {
  const causes: Closing[] = [];
  if (isUnknown(before) && !isUnknown(after) && 'name' in sighting) {
    causes.push({
      kind: 'callback.unknown_reference',
      resolution: `the payment turned up: ${sighting.name}`,
    });
  }
  if (sighting.kind === 'ended' && !isEnd(before.status)) {
    const { name, status, terms } = sighting;
    for (const kind of WHILE_OPEN) causes.push({ kind, resolution: `the payment ended: ${name}` });
    if (status === 'completed' && isSettled(before, terms)) {
      const amount = `${formatAmount(terms.amount, terms.currency)} ${terms.currency}`;
      causes.push({ kind: SETTLED, resolution: `the collection completed with ${amount}` });
    }
  }
  return causes.filter(({ kind }) => after.breaks.includes(kind));
}

/**
 * Whether a collection completed with the amount that people approved, or that the callback named which opened the break;
 * with any other nobody has explained what the customer paid.
 */
function isSettled(before: Tracked, { kind, amount }: Terms): boolean {
  const { terms, decided } = before;
  if (kind !== 'collection' || terms === null) return false;
  if (decided.includes(amount)) return true;
  const claim = differingClaim(before, terms);
  const named = claim && (currencyOf(claim) ?? terms.currency) === terms.currency;
  return named === true && readMinor(claim.amount, terms) === amount;
}

/** The timeline with the breaks that were closed; what callbacks have claimed of a settled amount is settled with it. */
export function afterClosings(tracked: Tracked, closings: readonly Closing[], nowMs: number): Tracked {
  let { history } = tracked;
  for (const { kind } of closings)
    history = remember(history, { what: 'resolved', detail: kind, atMs: nowMs });
  const isSettledNow = closings.some(({ kind }) => kind === SETTLED);
  return {
    ...tracked,
    history,
    ...(isSettledNow && {
      breaks: tracked.breaks.filter((kind) => kind !== SETTLED),
      claimsSettled: tracked.callbacks.length,
    }),
  };
}

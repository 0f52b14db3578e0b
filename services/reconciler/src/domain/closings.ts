import { formatAmount } from '@pesewa/kernel';
import { differingClaim } from './amounts.ts';
import { bookKinds, judgeBooks } from './books.ts';
import type { BreakKind } from './break-kinds.ts';
import { isEnd } from './claim.ts';
import { coverageKinds, gapBetween } from './coverage.ts';
import type { Sighting } from './sightings.ts';
import { stepKinds } from './steps.ts';
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
  'payout.unattempted',
];

/** The one break that an end settles, and a later callback may open again. */
const SETTLED: BreakKind = 'collection.amount_differs';

/** What may be found again after it was closed. */
const AGAIN: readonly string[] = [...bookKinds, ...coverageKinds, ...Object.values(stepKinds), SETTLED];

/**
 * The breaks that a sighting closes by itself (ADR 31): those that were about a payment that nobody knew, or that
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
  const end = endIn(sighting);
  if (end !== undefined && isEnd(after.status) && !isEnd(before.status)) {
    const { name, status, terms } = end;
    const byPeople = before.decidedOutcome === status ? ', decided by people' : '';
    for (const kind of WHILE_OPEN) causes.push({ kind, resolution: `the payment ended: ${name}${byPeople}` });
    if (status === 'completed' && isSettled(before, terms)) {
      const amount = `${formatAmount(terms.amount, terms.currency)} ${terms.currency}`;
      causes.push({ kind: SETTLED, resolution: `the collection completed with ${amount}` });
    }
  }
  // A reversal is an end as well, which its owner takes after another.
  if (end !== undefined && after.status !== before.status)
    causes.push({ kind: 'payment.end_untaken', resolution: `its owner has taken it: ${end.name}` });
  if (sighting.kind === 'asked')
    causes.push({ kind: 'payout.unattempted', resolution: `an attempt is told: ${sighting.name}` });
  if ('name' in sighting) causes.push(...bornOut(after, sighting), ...covered(before, sighting));
  return causes.filter(({ kind }) => after.breaks.includes(kind));
}

/** What the ledger and the owner of a payment no longer disagree about. */
function bornOut(after: Tracked, { name }: { readonly name: string }): readonly Closing[] {
  const still = judgeBooks(after)?.kind;
  return bookKinds
    .filter((kind) => kind !== still)
    .map((kind) => ({ kind, resolution: `the ledger and the payment's owner agree: ${name}` }));
}

/** The end that a sighting tells, by the owner's event or by its record. */
function endIn(sighting: Sighting) {
  if (sighting.kind === 'ended') return sighting;
  if (sighting.kind !== 'audited' || sighting.record === null || sighting.record.status === 'open')
    return undefined;
  const { status, terms } = sighting.record;
  return { name: sighting.name, status, terms };
}

/** What the audit need not tell any more: an event was only late, or a record is level again (ADR 27). */
function covered(before: Tracked, sighting: Sighting): readonly Closing[] {
  if (sighting.kind === 'audited') {
    if (endIn(sighting) !== undefined && sighting.gap !== undefined)
      return [{ kind: 'coverage.missing', resolution: `the payment ended: ${sighting.name}` }];
    const isLevel = gapBetween(before, sighting.record) === undefined;
    return isLevel ? [{ kind: 'coverage.behind', resolution: 'its record is level again' }] : [];
  }
  if (sighting.kind === 'opened')
    return [{ kind: 'coverage.missing', resolution: `its event came: ${sighting.name}` }];
  if (sighting.kind !== 'ended') return [];
  const isSameEnd = before.status === sighting.status;
  return coverageKinds
    .filter((kind) => kind !== 'coverage.ended' || isSameEnd)
    .map((kind) => ({ kind, resolution: `the payment ended: ${sighting.name}` }));
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
  const closed = new Set<string>(closings.map(({ kind }) => kind));
  const isSettledNow = closed.has(SETTLED);
  return {
    ...tracked,
    history,
    breaks: tracked.breaks.filter((kind) => !AGAIN.includes(kind) || !closed.has(kind)),
    ...(isSettledNow && { claimsSettled: tracked.callbacks.length }),
  };
}

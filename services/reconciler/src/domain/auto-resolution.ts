import { displayAmount } from '@pesewa/kernel';
import { differingClaim } from './amounts.ts';
import { bookKinds, judgeBooks } from './books.ts';
import type { BreakKind } from './break-kinds.ts';
import { claimedEnd, isConsistentWith, isEnd, isOwn } from './claim.ts';
import { gapKinds } from './coverage.ts';
import type { PaymentObservation } from './observations.ts';
import { isUnknown, type Terms, type Tracked, withoutBreaks } from './tracked.ts';
import { currencyOf, readMinor } from './values.ts';

/** A break of a payment whose cause is gone, and why. */
export interface AutoResolution {
  readonly kind: BreakKind;
  readonly resolution: string;
}

/** The only break that an end resolves and a later callback may open again. */
const RESOLVED_BY_END: BreakKind = 'collection.amount_differs';

/**
 * The breaks that an observation closes by itself (ADR 70): those about a payment that was unknown, that did not end, or
 * whose amount was unclear until it completed with the decided one, or whose end was claimed before it was true. Contradictions
 * stay, for people or until the rail's lookup agrees.
 */
export function autoResolutionsOf(
  before: Tracked,
  after: Tracked,
  observation: PaymentObservation,
): readonly AutoResolution[] {
  // A callback only claims.
  if (observation.kind === 'called' || after.breaks.length === 0) return [];
  const { kind, name } = observation;
  const end = endIn(observation);
  const isEnding = end !== undefined && isEnd(after.status) && !isEnd(before.status);
  const differing = judgeBooks(after)?.kind;
  const over: readonly (readonly [BreakKind, boolean])[] = [
    ['callback.unknown_reference', !isUnknown(after)],
    ['callback.denied', end !== undefined && cameTrue(after)],
    [RESOLVED_BY_END, isEnding && end.status === 'completed' && isResolvedByEnd(before, end.terms)],
    ['collection.not_found', isEnding],
    ['payout.not_found', isEnding],
    ['payout.refused_again', isEnding],
    ['payment.stuck', isEnding],
    ['payout.unattempted', isEnding || kind === 'asked'],
    // A reversal is an end too, which the owner applies after another.
    ['payment.end_untaken', end !== undefined && after.status !== before.status],
    // Breaks over lost events are resolved if an event was only late, or the payment has ended (ADR 27).
    [gapKinds.opening, end !== undefined || kind === 'opened'],
    [gapKinds.record, kind === 'ended'],
    [gapKinds.end, kind === 'ended' && before.status === observation.status],
    ...bookKinds.map((one) => [one, one !== differing] as const),
  ];
  const byPeople = isEnding && before.decidedOutcome === end.status ? ', decided by people' : '';
  const came = isUnknown(before) ? 'the payment appeared' : 'what was missing has come';
  const why = end ? `the payment ended: ${name}${byPeople}` : `${came}: ${name}`;
  return over
    .filter(([one, isOver]) => isOver && after.breaks.includes(one))
    .map(([one]) => ({ kind: one, resolution: one === RESOLVED_BY_END && end ? completedWith(end) : why }));
}

function completedWith({ terms: { amount, currency } }: { readonly terms: Terms }): string {
  return `the collection completed with ${displayAmount(amount, currency)}`;
}

/** Whether every end that callbacks have claimed is the payment's own by now. */
function cameTrue({ status, terms, callbacks }: Tracked): boolean {
  if (terms === null) return false;
  const ends = callbacks.filter((claim) => isOwn(claim, terms)).flatMap((claim) => claimedEnd(claim) ?? []);
  return ends.length > 0 && ends.every((claimed) => isConsistentWith(status, claimed));
}

/** The end in an observation, by the owner's event or by its record. */
function endIn(observation: PaymentObservation) {
  if (observation.kind === 'ended') return observation;
  if (observation.kind !== 'audited' || observation.record.status === 'open') return undefined;
  const { status, terms } = observation.record;
  return { status, terms };
}

/**
 * Whether a collection completed with the amount that people approved, or with that of the callback which opened the
 * break; no other amount is explained.
 */
function isResolvedByEnd(before: Tracked, { kind, amount }: Terms): boolean {
  const { terms, decided } = before;
  if (kind !== 'collection' || terms === null) return false;
  if (decided.includes(amount)) return true;
  const claim = differingClaim(before, terms);
  const named = claim && (currencyOf(claim) ?? terms.currency) === terms.currency;
  return named === true && readMinor(claim.amount, terms) === amount;
}

/** The payment without what is gone; the callbacks' claims about a decided amount are judged too. */
export function afterAutoResolutions(tracked: Tracked, kinds: readonly BreakKind[]): Tracked {
  const isJudged = kinds.includes(RESOLVED_BY_END);
  return {
    ...withoutBreaks(tracked, kinds),
    ...(isJudged && { claimsJudged: tracked.callbacks.length }),
  };
}

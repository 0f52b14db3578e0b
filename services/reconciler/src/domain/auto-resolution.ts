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

/** Kinds that are no discrepancy any more once the payment has ended, by whatever fact. */
const WHILE_OPEN: readonly BreakKind[] = [
  'collection.not_found',
  'payout.not_found',
  'payout.refused_again',
  'payment.stuck',
  'payout.unattempted',
];

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
  const causes: AutoResolution[] = [];
  const gone = (resolution: string, ...kinds: readonly BreakKind[]) =>
    void causes.push(...kinds.map((kind) => ({ kind, resolution })));
  const { name } = observation;
  const end = endIn(observation);
  if (isUnknown(before) && !isUnknown(after))
    gone(`the payment appeared: ${name}`, 'callback.unknown_reference');
  if (end && isEnd(after.status) && !isEnd(before.status)) {
    const { status, terms } = end;
    const byPeople = before.decidedOutcome === status ? ', decided by people' : '';
    gone(`the payment ended: ${name}${byPeople}`, ...WHILE_OPEN);
    if (status === 'completed' && isResolvedByEnd(before, terms))
      gone(`the collection completed with ${displayAmount(terms.amount, terms.currency)}`, RESOLVED_BY_END);
  }
  // A reversal is an end too, which the owner applies after another.
  if (end && after.status !== before.status)
    gone(`its owner has taken it over: ${name}`, 'payment.end_untaken');
  if (end && cameTrue(after)) gone(`what was claimed came true: ${name}`, 'callback.denied');
  if (observation.kind === 'asked') gone(`an attempt is reported: ${name}`, 'payout.unattempted');
  const differing = judgeBooks(after)?.kind;
  gone(`the ledger and the payment's owner agree: ${name}`, ...bookKinds.filter((one) => one !== differing));
  // Breaks over lost events are resolved if an event was only late, or the payment has ended (ADR 27).
  if (observation.kind === 'opened') gone(`its event arrived: ${name}`, gapKinds.opening);
  if (observation.kind === 'audited' && end) gone(`the payment ended: ${name}`, gapKinds.opening);
  if (observation.kind === 'ended') {
    const isSameEnd = before.status === observation.status;
    const gaps = Object.values(gapKinds).filter((one) => one !== gapKinds.end || isSameEnd);
    gone(`the payment ended: ${name}`, ...gaps);
  }
  return causes.filter((one) => after.breaks.includes(one.kind));
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

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
  const causes: AutoResolution[] = [];
  if (isUnknown(before) && !isUnknown(after) && 'name' in observation) {
    causes.push({
      kind: 'callback.unknown_reference',
      resolution: `the payment appeared: ${observation.name}`,
    });
  }
  const end = endIn(observation);
  if (end !== undefined && isEnd(after.status) && !isEnd(before.status)) {
    const { name, status, terms } = end;
    const byPeople = before.decidedOutcome === status ? ', decided by people' : '';
    for (const kind of WHILE_OPEN) causes.push({ kind, resolution: `the payment ended: ${name}${byPeople}` });
    if (status === 'completed' && isResolvedByEnd(before, terms)) {
      const amount = displayAmount(terms.amount, terms.currency);
      causes.push({ kind: RESOLVED_BY_END, resolution: `the collection completed with ${amount}` });
    }
  }
  // A reversal is an end too, which the owner applies after another.
  if (end !== undefined && after.status !== before.status)
    causes.push({ kind: 'payment.end_untaken', resolution: `its owner has taken it over: ${end.name}` });
  if (end !== undefined && cameTrue(after))
    causes.push({ kind: 'callback.denied', resolution: `what was claimed came true: ${end.name}` });
  if (observation.kind === 'asked')
    causes.push({ kind: 'payout.unattempted', resolution: `an attempt is reported: ${observation.name}` });
  if ('name' in observation) causes.push(...bornOut(after, observation), ...covered(before, observation));
  return causes.filter(({ kind }) => after.breaks.includes(kind));
}

/** Whether every end that callbacks have claimed is the payment's own by now. */
function cameTrue({ status, terms, callbacks }: Tracked): boolean {
  if (terms === null) return false;
  const ends = callbacks.filter((claim) => isOwn(claim, terms)).flatMap((claim) => claimedEnd(claim) ?? []);
  return ends.length > 0 && ends.every((claimed) => isConsistentWith(status, claimed));
}

/** The differences between the ledger and the payment's owner that are gone. */
function bornOut(after: Tracked, { name }: { readonly name: string }): readonly AutoResolution[] {
  const still = judgeBooks(after)?.kind;
  return bookKinds
    .filter((kind) => kind !== still)
    .map((kind) => ({ kind, resolution: `the ledger and the payment's owner agree: ${name}` }));
}

/** The end in an observation, by the owner's event or by its record. */
function endIn(observation: PaymentObservation) {
  if (observation.kind === 'ended') return observation;
  if (observation.kind !== 'audited' || observation.record.status === 'open') return undefined;
  const { status, terms } = observation.record;
  return { name: observation.name, status, terms };
}

/** The breaks over lost events that are resolved: an event was only late, or the payment has ended (ADR 27). */
function covered(before: Tracked, observation: PaymentObservation): readonly AutoResolution[] {
  if (observation.kind === 'audited' && endIn(observation) !== undefined)
    return [{ kind: 'coverage.missing', resolution: `the payment ended: ${observation.name}` }];
  if (observation.kind === 'opened')
    return [{ kind: 'coverage.missing', resolution: `its event arrived: ${observation.name}` }];
  if (observation.kind !== 'ended') return [];
  const isSameEnd = before.status === observation.status;
  return Object.values(gapKinds)
    .filter((kind) => kind !== 'coverage.ended' || isSameEnd)
    .map((kind) => ({ kind, resolution: `the payment ended: ${observation.name}` }));
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
export function afterAutoResolutions(
  tracked: Tracked,
  autoResolutions: readonly Pick<AutoResolution, 'kind'>[],
): Tracked {
  const kinds = autoResolutions.map(({ kind }) => kind);
  const isResolvedNow = kinds.includes(RESOLVED_BY_END);
  return {
    ...withoutBreaks(tracked, kinds),
    ...(isResolvedNow && { claimsJudged: tracked.callbacks.length }),
  };
}

import { afterAutoResolutions } from './auto-resolution.ts';
import { bookKinds, judgeBooks } from './books.ts';
import { type Break, kindsOf } from './break.ts';
import type { BreakKind } from './break-kinds.ts';
import { isEnd } from './claim.ts';
import { isFoundAgain } from './observing.ts';
import { hastened } from './schedule.ts';
import { type Tracked, withBreaks } from './tracked.ts';
import { LOOKUP_KINDS } from './verdict.ts';

/** The kinds of a break that stand; none of a resolved one. */
export function standingKinds(one: Break): readonly BreakKind[] {
  return one.status === 'open' ? [...new Set(kindsOf(one))] : [];
}

/**
 * The payment after a person resolved or reopened its break, or an order of the ledger corrected it.
 *
 * What the next run may find again is news then. After a person's resolution a payment that differs from the ledger's
 * entries is compared with them once more, or it is looked up at the rail; a difference that an order corrected stays as it is.
 */
export function afterManualResolution(
  tracked: Tracked,
  before: Break,
  after: Break,
  { by, at }: { readonly by: 'person' | 'order'; readonly at: Date },
): Tracked {
  const left = standingKinds(after);
  const gone = standingKinds(before).filter((kind) => !left.includes(kind));
  const known = afterAutoResolutions(tracked, gone.filter(isFoundAgain));
  const seen = withBreaks(known, left);
  if (by === 'order') return seen;
  const isLookedUp = isEnd(tracked.status) && gone.some((kind) => LOOKUP_KINDS.includes(kind));
  const isCompared =
    gone.some((kind) => bookKinds.includes(kind) && isFoundAgain(kind)) && judgeBooks(seen) !== undefined;
  const nowMs = at.getTime();
  return {
    ...seen,
    ...(isCompared && { booksDueAtMs: nowMs }),
    ...(isLookedUp && hastened(tracked, nowMs)),
  };
}

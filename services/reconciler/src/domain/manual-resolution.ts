import { afterAutoResolutions } from './auto-resolution.ts';
import { bookKinds } from './books.ts';
import type { BreakKind } from './break-kinds.ts';
import { isEnd } from './claim.ts';
import { isFoundAgain } from './observing.ts';
import { hastened } from './schedule.ts';
import { remember, type Tracked, withBreaks } from './tracked.ts';
import { LOOKUP_KINDS } from './verdict.ts';

/**
 * The payment after a person resolved or reopened its break with these kinds, or an order of the ledger corrected the
 * difference.
 *
 * After a person's resolution the payment is compared with the ledger's entries, or looked up at the rail, once more:
 * if the difference is gone and later found again, it is news. A difference that an order corrected stays as it is.
 */
export function afterManualResolution(
  tracked: Tracked,
  kinds: readonly BreakKind[],
  what: 'resolve' | 'reopen' | 'adjust',
  nowMs: number,
): Tracked {
  const line = what === 'reopen' ? 'break' : 'resolved';
  const noted = kinds.reduce(
    (timeline, detail) => remember(timeline, { what: line, detail, atMs: nowMs }),
    tracked.timeline,
  );
  const seen = { ...tracked, timeline: noted };
  if (what === 'reopen') return withBreaks(seen, kinds);
  const returning = kinds.filter(isFoundAgain).map((kind) => ({ kind }));
  const after = afterAutoResolutions(seen, returning);
  if (what === 'adjust') return after;
  const isLookedUp = isEnd(tracked.status) && kinds.some((kind) => LOOKUP_KINDS.includes(kind));
  return {
    ...after,
    ...(kinds.some((kind) => bookKinds.includes(kind) && isFoundAgain(kind)) && { booksDueAtMs: nowMs }),
    ...(isLookedUp && hastened(tracked, nowMs)),
  };
}

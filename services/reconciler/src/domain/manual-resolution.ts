import { afterAutoResolutions } from './auto-resolution.ts';
import { bookKinds } from './books.ts';
import { type BreakKind, isBreakKind, termsOfBreak } from './break-kinds.ts';
import { isEnd } from './claim.ts';
import { afterReopened, afterResolved } from './reported-findings.ts';
import { hastened } from './schedule.ts';
import { remember, type Tracked } from './tracked.ts';

/**
 * Whether a break may be found again after a person has resolved it: its payment must then not remember it as opened.
 */
function isForgotten(kind: BreakKind): boolean {
  const manualResolution = termsOfBreak(kind)?.manualResolution;
  return manualResolution === 'again' || manualResolution === 'decided';
}

/**
 * The payment after a person resolved or reopened its break, or an order of the ledger corrected the difference; the
 * same object if the break is not the payment's own.
 *
 * After a person's resolution the payment is compared with the ledger's entries, or looked up at the rail, once more:
 * if the difference is gone and later found again, it is news. A difference that an order corrected stays as it is.
 */
export function afterManualResolution(
  tracked: Tracked,
  kind: string,
  what: 'resolve' | 'reopen' | 'adjust',
  nowMs: number,
): Tracked {
  if (!isBreakKind(kind)) return tracked;
  const isKnown = tracked.breaks.includes(kind);
  if (what === 'reopen') {
    const breaks = isKnown ? tracked.breaks : [...tracked.breaks, kind];
    const timeline = remember(tracked.timeline, { what: 'break', detail: kind, atMs: nowMs });
    return { ...tracked, breaks, known: afterReopened(tracked.known, kind), timeline };
  }
  if (!isKnown) return tracked;
  const closed = afterAutoResolutions(tracked, [{ kind, resolution: '' }], nowMs);
  if (!isForgotten(kind)) return what === 'resolve' ? askedOnceMore(closed, kind, nowMs) : closed;
  const forgotten = { ...closed, breaks: closed.breaks.filter((one) => one !== kind) };
  return what === 'resolve' && bookKinds.includes(kind) ? { ...forgotten, booksDueAtMs: nowMs } : forgotten;
}

/**
 * An ended payment is asked about again: until then it is unknown whether the rail's lookup still reports the
 * difference.
 */
function askedOnceMore(tracked: Tracked, kind: BreakKind, nowMs: number): Tracked {
  const known = afterResolved(tracked.known, kind);
  const asks = isEnd(tracked.status) && known.some((one) => one.kind === kind && one.since === 'resolved');
  return asks ? { ...tracked, known, ...hastened(tracked, nowMs) } : tracked;
}

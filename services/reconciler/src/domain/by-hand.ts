import { bookKinds } from './books.ts';
import { type BreakKind, isBreakKind, termsOfBreak } from './break-kinds.ts';
import { isEnd } from './claim.ts';
import { afterClosings } from './closings.ts';
import { afterReopened, afterResolved } from './known-findings.ts';
import { hastened } from './schedule.ts';
import { remember, type Tracked } from './tracked.ts';

/** What may be found again once a person has resolved it: its payment must not remember it as opened. */
function isForgotten(kind: BreakKind): boolean {
  const byHand = termsOfBreak(kind)?.byHand;
  return byHand === 'again' || byHand === 'decided';
}

/**
 * A payment after a person resolved or reopened its break, or an order of the ledger corrected what it was about; the same
 * object where it is not its own.
 *
 * What a person resolves is held against the ledger's entries, or the rail's lookup, once more: what is not found any more
 * is news when it is found again. What an order corrected stays as it is.
 */
export function afterByHand(
  tracked: Tracked,
  kind: string,
  what: 'resolve' | 'reopen' | 'adjust',
  nowMs: number,
): Tracked {
  if (!isBreakKind(kind)) return tracked;
  const isKnown = tracked.breaks.includes(kind);
  if (what === 'reopen') {
    const breaks = isKnown ? tracked.breaks : [...tracked.breaks, kind];
    const history = remember(tracked.history, { what: 'break', detail: kind, atMs: nowMs });
    return { ...tracked, breaks, known: afterReopened(tracked.known, kind), history };
  }
  if (!isKnown) return tracked;
  const closed = afterClosings(tracked, [{ kind, resolution: '' }], nowMs);
  if (!isForgotten(kind)) return what === 'resolve' ? askedOnceMore(closed, kind, nowMs) : closed;
  const forgotten = { ...closed, breaks: closed.breaks.filter((one) => one !== kind) };
  return what === 'resolve' && bookKinds.includes(kind) ? { ...forgotten, booksDueAtMs: nowMs } : forgotten;
}

/** Whatever the rail's lookup said of an ended payment, it is asked again: until then nobody knows whether it still does. */
function askedOnceMore(tracked: Tracked, kind: BreakKind, nowMs: number): Tracked {
  const known = afterResolved(tracked.known, kind);
  const asks = isEnd(tracked.status) && known.some((one) => one.kind === kind && one.since === 'resolved');
  return asks ? { ...tracked, known, ...hastened(tracked, nowMs) } : tracked;
}

import { bookKinds } from './books.ts';
import { type BreakKind, isBreakKind, termsOfBreak } from './break-kinds.ts';
import { afterClosings } from './closings.ts';
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
 * What a person resolves is held against the ledger's entries once more; what an order corrected stays as they are.
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
    return { ...tracked, breaks, history };
  }
  if (!isKnown) return tracked;
  const closed = afterClosings(tracked, [{ kind, resolution: '' }], nowMs);
  if (!isForgotten(kind)) return closed;
  const forgotten = { ...closed, breaks: closed.breaks.filter((one) => one !== kind) };
  return what === 'resolve' && bookKinds.includes(kind) ? { ...forgotten, booksDueAtMs: nowMs } : forgotten;
}

import type { Adjustment } from './adjustments.ts';
import type { Break, BreakChange } from './break.ts';
import { correctedBy } from './discrepancies.ts';

/** No more than a document can hold. */
const HISTORY_MAX = 150;
/** Where an order stands that moves money, or has. */
const MOVES: readonly Adjustment['status'][] = ['proposed', 'booked', 'differs'];

/** A break that is open again: nobody has it, and nobody has explained it. */
export function openedAgain(current: Break, line: BreakChange): Break {
  const { owner: _owner, explanation: _explanation, ...free } = current;
  const { resolvedAt: _at, resolution: _resolution, resolvedBy: _by, ...standing } = free;
  return changed({ ...standing, status: 'open', since: line.at }, line);
}

/** A break that is resolved, by somebody or by itself. */
export function resolved(
  current: Break,
  { by, at }: Pick<BreakChange, 'by' | 'at'>,
  resolution: string,
): Break {
  const { resolvedBy: _, ...standing } = current;
  const next = { ...standing, status: 'resolved', resolvedAt: at, resolution } as const;
  const line = { at, by, what: 'resolved', text: resolution } as const;
  return changed({ ...next, ...(by !== null && { resolvedBy: by }) }, line);
}

/** The next version, with its line; of too many, the reconciler's own lines go first, and the first never. */
export function changed(next: Break, line: BreakChange): Break {
  const history = [...next.history, line];
  const own = history.findIndex(({ by }, place) => place > 0 && by === null);
  const bounded = history.length > HISTORY_MAX ? history.toSpliced(own === -1 ? 1 : own, 1) : history;
  return { ...withCorrections(next), version: next.version + 1, history: bounded };
}

/** The break with the fields that its orders correct: those that wait, and those that the ledger has booked. */
function withCorrections({ corrects: _corrects, ...next }: Break): Break {
  const orders = (next.adjustments ?? []).filter(({ status }) => MOVES.includes(status));
  const corrects = [...new Set(orders.flatMap(({ tells = [] }) => correctedBy({ ...next, tells })))];
  return { ...next, ...(corrects.length > 0 && { corrects }) };
}

import type { Break, BreakChange } from './break.ts';

/** The most lines that a document can hold. */
const HISTORY_MAX = 150;

/** A reopened break, without owner and explanation. */
export function openedAgain(current: Break, line: BreakChange): Break {
  const { owner: _owner, explanation: _explanation, ...free } = current;
  const { resolvedAt: _at, resolution: _resolution, resolvedBy: _by, ...standing } = free;
  return changed({ ...standing, status: 'open', since: line.at }, line);
}

/** A resolved break, by a person or by itself. */
export function resolved(
  current: Break,
  { by, at }: Pick<BreakChange, 'by' | 'at'>,
  resolution: string,
): Break {
  const { resolvedBy: _by, resolutionProposedBy: _proposed, ...standing } = current;
  const next = { ...standing, status: 'resolved', resolvedAt: at, resolution } as const;
  const line = { at, by, what: 'resolved', text: resolution } as const;
  return changed({ ...next, ...(by !== null && { resolvedBy: by }) }, line);
}

/**
 * The next version, with its history line. If there are too many lines, the reconciler's own are dropped first, and the
 * first line never.
 */
export function changed(next: Break, line: BreakChange): Break {
  const history = [...next.history, line];
  const own = history.findIndex(({ by }, place) => place > 0 && by === null);
  const bounded = history.length > HISTORY_MAX ? history.toSpliced(own === -1 ? 1 : own, 1) : history;
  return { ...next, version: next.version + 1, history: bounded };
}

import type { BreakSidesView, BreakView, ShownBreakView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { historyOf, nameOf } from '../decisions/views.ts';
import { type Break, statusOf } from '../domain/break.ts';
import type { Decision } from '../domain/decisions.ts';

/** A break as operators see it in lists: amounts in signed decimal text, times in UTC. */
export function viewBreak(one: Break): BreakView {
  const { proposedResolution: proposed } = one;
  return {
    id: one._id,
    kind: one.kind,
    reference: one.reference,
    rail: one.rail ?? null,
    status: statusOf(one),
    currency: one.currency,
    amount: text(one.amount, one.currency),
    detail: one.detail,
    owner: one.owner ?? null,
    explanation: one.explanation ?? null,
    openedAt: one.openedAt.toISOString(),
    since: one.since.toISOString(),
    resolvedAt: one.resolvedAt?.toISOString() ?? null,
    resolution: one.resolution ?? null,
    resolvedBy: one.resolvedBy ?? null,
    version: one.version,
    ...(proposed && { proposedResolution: { ...proposed, at: proposed.at.toISOString() } }),
  };
}

/** One break with its history, in which its decisions are too, its corrections, and what both sides have. */
export function viewWholeBreak(
  one: Break,
  sides: BreakSidesView,
  decisions: readonly Decision[],
): ShownBreakView {
  const decided = decisions
    .filter(({ breakId }) => breakId === one._id)
    .flatMap((decision) =>
      historyOf(decision).map(({ what, ...line }) => ({
        ...line,
        what: `decision ${what}`,
        text: `${nameOf(decision)}: ${decision._id}`,
        amount: null,
      })),
    );
  return {
    ...viewBreak(one),
    observations: one.observations.map(({ observer, kind, amount, detail, at, currency }) => ({
      observer,
      kind,
      amount: text(amount, currency),
      detail,
      at: at.toISOString(),
    })),
    corrections: [...(one.corrections ?? [])],
    history: [...one.history, ...decided]
      .toSorted((line, other) => Number(line.at) - Number(other.at))
      .map(({ at, by, what, text: said = null, amount = null }) => ({
        at: at.toISOString(),
        by,
        what,
        text: said,
        amount: text(amount, one.currency),
      })),
    ...sides,
  };
}

function text(amount: bigint | null, currency: string | null): string | null {
  return amount === null || currency === null ? null : formatAmount(amount, currency);
}

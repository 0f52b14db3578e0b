import { type TimelineView, timelineOperations } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Decisions } from '../decisions/decisions.ts';
import { timelineOf } from '../decisions/routes.ts';
import type { Decision } from '../domain/decisions.ts';
import type { Tracked } from '../domain/tracked.ts';
import type { WorkingStore } from '../store.ts';

const DECISIONS_MAX = 200;

/**
 * Adds the reconciler's own timeline of a payment, with decisions.
 *
 * A line's `notKept` is how many lines between it and the line before were dropped.
 */
export function addTimelineRoutes(
  operator: Hono,
  deps: {
    readonly store: Pick<WorkingStore, 'load'>;
    readonly decisions: Pick<Decisions, 'list'>;
  },
): void {
  serveOperations(operator, timelineOperations, {
    show: async ({ query: { reference } }) => {
      const tracked = (await deps.store.load([reference])).get(reference);
      if (!tracked) return refused('not_found', 'no payment with this reference is known here');
      const decided = await deps.decisions.list({ reference, limit: DECISIONS_MAX });
      return answer(200, viewTimeline(tracked, decided.items));
    },
  });
}

function time(atMs: number): string {
  return new Date(atMs).toISOString();
}

function viewTimeline(tracked: Tracked, decisions: readonly Decision[]): TimelineView {
  const { terms } = tracked;
  const seen = tracked.timeline.map(({ what, detail, atMs, lastAtMs, times, notKept = 0 }) => ({
    at: time(atMs),
    what,
    detail,
    times,
    lastAt: time(lastAtMs),
    notKept,
  }));
  const decided = timelineOf(decisions)
    .toSorted((one, other) => Number(one.at) - Number(other.at))
    .map(({ at, detail }) => {
      const text = at.toISOString();
      return { at: text, what: 'decision', detail, times: 1, lastAt: text, notKept: 0 };
    });
  return {
    reference: tracked.reference,
    kind: terms?.kind ?? null,
    rail: terms?.rail ?? null,
    merchantId: terms?.merchantId ?? null,
    currency: terms?.currency ?? null,
    amount: terms === null ? null : formatAmount(terms.amount, terms.currency),
    status: tracked.status,
    polls: tracked.polls,
    nextPollAt: tracked.dueAtMs === null ? null : time(tracked.dueAtMs),
    items: merged(seen, decided),
    next: null,
  };
}

/** Inserts each decision before the first later line; the reconciler's own lines keep their order. */
function merged<Line extends { readonly at: string }>(
  seen: readonly Line[],
  decided: readonly Line[],
): Line[] {
  const waiting = [...decided];
  const lines = seen.flatMap((line) => {
    const later = waiting.findIndex(({ at }) => at >= line.at);
    return [...waiting.splice(0, later === -1 ? waiting.length : later), line];
  });
  return [...lines, ...waiting];
}

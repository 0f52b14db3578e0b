import { type TimelineView, timelineOperations } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Decisions } from '../decisions/decisions.ts';
import { timelineOf } from '../decisions/routes.ts';
import { type Claim, isOwn, newestAtMs } from '../domain/claim.ts';
import type { Decision } from '../domain/decisions.ts';
import type { Tracked } from '../domain/tracked.ts';
import type { WorkingStore } from '../store.ts';

const DECISIONS_MAX = 200;

/**
 * Adds the reconciler's own timeline of a payment: its callbacks, the answers to polls, and decisions.
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

/** How a callback relates to its payment; if the payment is not known yet, it is only a hint. */
function sortOf(claim: Claim, terms: Tracked['terms']): 'hint' | 'proven' | 'other rail' {
  if (terms === null) return 'hint';
  if (!isOwn(claim, terms)) return 'other rail';
  return claim.proven ? 'proven' : 'hint';
}

function viewTimeline(tracked: Tracked, decisions: readonly Decision[]): TimelineView {
  const { terms } = tracked;
  const polled = tracked.answers.map(({ answer: detail, atMs, lastAtMs, times, notKept = 0 }) => ({
    at: time(atMs),
    what: 'poll',
    detail,
    times,
    lastAt: time(lastAtMs),
    notKept,
  }));
  const called = tracked.callbacks.map((claim) => {
    const lines = { what: sortOf(claim, terms), detail: claim.status, times: 1, notKept: 0 };
    return { ...lines, at: time(claim.atMs), lastAt: time(newestAtMs(claim)) };
  });
  const decided = timelineOf(decisions).map(({ at, detail }) => {
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
    items: merged(
      polled,
      [...called, ...decided].toSorted((one, other) => (one.at < other.at ? -1 : 1)),
    ),
    next: null,
  };
}

/** Inserts each callback and decision before the first later line; the reconciler's own lines keep their order. */
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

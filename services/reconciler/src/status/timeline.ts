import { type TimelineView, timelineOperations } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { type Claim, isOwn, newestAtMs } from '../domain/claim.ts';
import type { Tracked } from '../domain/tracked.ts';
import type { WorkingStore } from '../store.ts';

/**
 * Adds the reconciler's own timeline of a payment: its callbacks and the answers to polls. Breaks and decisions have
 * histories of their own.
 *
 * A line's `notKept` is how many lines between it and the line before were dropped.
 */
export function addTimelineRoutes(operator: Hono, { store }: { readonly store: Pick<WorkingStore, 'load'> }) {
  serveOperations(operator, timelineOperations, {
    show: async ({ query: { reference } }) => {
      const tracked = (await store.load([reference])).get(reference);
      return tracked
        ? answer(200, viewTimeline(tracked))
        : refused('not_found', 'no payment with this reference is known here');
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

function viewTimeline(tracked: Tracked): TimelineView {
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
      called.toSorted((one, other) => (one.at < other.at ? -1 : 1)),
    ),
    next: null,
  };
}

/** Inserts each callback before the first later answer; the answers keep their order. */
function merged<Line extends { readonly at: string }>(
  answers: readonly Line[],
  callbacks: readonly Line[],
): Line[] {
  const waiting = [...callbacks];
  const lines = answers.flatMap((line) => {
    const later = waiting.findIndex(({ at }) => at >= line.at);
    return [...waiting.splice(0, later === -1 ? waiting.length : later), line];
  });
  return [...lines, ...waiting];
}

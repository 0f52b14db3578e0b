import { type TimelineView, timelineOperations } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Tracked } from '../domain/tracked.ts';
import type { WorkingStore } from '../store.ts';

/**
 * Adds the reconciler's own timeline of a payment; its breaks and decisions have histories of their own.
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

function viewTimeline(tracked: Tracked): TimelineView {
  const { terms } = tracked;
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
    items: tracked.timeline.map(({ what, detail, atMs, lastAtMs, times, notKept = 0 }) => ({
      at: time(atMs),
      what,
      detail,
      times,
      lastAt: time(lastAtMs),
      notKept,
    })),
    next: null,
  };
}

import { pollOperations } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { WorkingStore } from '../store.ts';

/** Adds the poll on demand: it counts as a scheduled one, and the schedule goes on from it. */
export function addPollRoutes(
  operator: Hono,
  {
    store,
    clock,
  }: { readonly store: Pick<WorkingStore, 'load' | 'bringForward'>; readonly clock: Pick<Clock, 'nowMs'> },
): void {
  serveOperations(operator, pollOperations, {
    poll: async ({ body: { reference } }) => {
      const tracked = (await store.load([reference])).get(reference);
      if (!tracked?.terms) return refused('not_found', 'no payment with this reference is known here');
      if (tracked.status !== 'open')
        return refused('ended', `the payment is ${tracked.status}: there is nothing to ask the rail`);
      const at = new Date(clock.nowMs());
      const isBroughtForward = await store.bringForward(reference, at);
      // Else it is due already, or being polled.
      const dueAtMs = isBroughtForward ? at.getTime() : tracked.dueAtMs;
      return answer(202, {
        reference,
        nextPollAt: dueAtMs === null ? null : new Date(dueAtMs).toISOString(),
      });
    },
  });
}

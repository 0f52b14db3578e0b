import { type CloseRecordView, type CloseView, closeOperations } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { answer, refused, type ServedRequest, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { COUNT_TIMEOUT_MS } from '../batches.ts';
import type { Window } from '../matching/payments.ts';
import { type ShownRuns, showRuns } from '../matching/routes.ts';
import type { Closes } from './closes.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';
import { closeColumns, viewClose, viewRecord } from './views.ts';
import { dayFrom } from './window.ts';

/** The dependencies of the routes of closes. */
export interface CloseRouteDeps {
  readonly closes: Pick<Closes, 'open'>;
  readonly store: ShownRuns<CloseDocument, CloseRecord, CloseView, CloseRecordView>['store'] &
    Pick<CloseStore, 'count'>;
  /** The configured rails. */
  readonly railNames: readonly string[];
}

/** Adds the routes of daily closes (ADR 29). */
export function addCloseRoutes(operator: Hono, { closes, store, railNames }: CloseRouteDeps): void {
  /** The counts of a running one are counted anew, as far as there is time. */
  const viewRun = async (close: CloseDocument) =>
    viewClose(close, close.counts ?? (await store.count(close._id, COUNT_TIMEOUT_MS)));
  serveOperations(operator, closeOperations, {
    open: async ({ body, operator: by }) => {
      const window = readWindow(body, railNames);
      if (!window.ok) return refused('invalid', window.refusal);
      const opened = await closes.open(window.value, by);
      if (!opened.ok) return refused(opened.refusal.code, opened.refusal.message);
      return answer(opened.value.isNew ? 202 : 200, await viewRun(opened.value.run));
    },
    ...showRuns({ noun: 'close', store, viewRun, viewRecord, columns: closeColumns }),
  });
}

function readWindow(
  { date, from, to, ...narrowed }: ServedRequest<typeof closeOperations.open>['body'],
  railNames: readonly string[],
): Result<Window, string> {
  const rail = narrowed.rail ?? null;
  if (rail !== null && !railNames.includes(rail))
    return refuse(`rail: there is none of this name here, but ${railNames.join(', ')}`);
  if (date !== undefined) return accept(dayFrom(new Date(date), rail));
  if (!from || !to) throw new TypeError('neither a date nor a time was let through');
  return accept({ from, to, rail });
}

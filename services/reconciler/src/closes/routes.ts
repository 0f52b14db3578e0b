import { type CloseRecordView, type CloseView, closeOperations } from '@pesewa/contracts';
import { answer, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { COUNT_TIMEOUT_MS } from '../batches.ts';
import { type ShownRuns, showRuns } from '../matching/routes.ts';
import type { Closes } from './closes.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';
import { closeColumns, viewClose, viewRecord } from './views.ts';

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
    open: async ({ body: { date, rail = null }, operator: by }) => {
      if (rail !== null && !railNames.includes(rail))
        return refused('invalid', `rail: there is none of this name here, but ${railNames.join(', ')}`);
      const opened = await closes.open(new Date(date), rail, by);
      if (!opened.ok) return refused('not_over', opened.refusal);
      return answer(opened.value.isNew ? 202 : 200, await viewRun(opened.value.run));
    },
    ...showRuns({ noun: 'close', store, viewRun, viewRecord, columns: closeColumns }),
  });
}

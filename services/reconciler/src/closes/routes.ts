import {
  type ClosePreviewView,
  type CloseRecordView,
  type CloseView,
  closeOperations,
} from '@pesewa/contracts';
import { accept, type Result, refuse, unreachable } from '@pesewa/kernel';
import { answer, refused, type ServedAnswer, type ServedRequest, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { COUNT_TIMEOUT_MS } from '../batches.ts';
import type { Window } from '../matching/payments.ts';
import { type ShownRuns, showRuns } from '../matching/routes.ts';
import type { MatchStore } from '../matching/store.ts';
import type { Closes } from './closes.ts';
import type { CloseDocument, CloseRecord } from './store.ts';
import { closeColumns, viewClose, viewRecord } from './views.ts';
import { closeIdOf, dayFrom, WINDOW_DAYS_MAX, type WindowRefusal } from './window.ts';

/** The dependencies of the routes of closes. */
export interface CloseRouteDeps {
  readonly closes: Pick<Closes, 'open' | 'preview'>;
  readonly store: ShownRuns<CloseDocument, CloseRecord, CloseView, CloseRecordView>['store'] &
    Pick<MatchStore<CloseDocument, CloseRecord>, 'count'>;
  /** The configured rails. */
  readonly railNames: readonly string[];
  /** How long after its end a window can be closed. */
  readonly closeLagMs: number;
  /** How many payments of a rail a close gets through in a second at most. */
  readonly perSecondOf: (rail: string) => number;
}

/** Adds the routes of daily closes (ADR 29). */
export function addCloseRoutes(operator: Hono, deps: CloseRouteDeps): void {
  const shown = { ...deps, noun: 'close', viewRun: viewOf(deps), viewRecord, columns: closeColumns };
  serveOperations(operator, closeOperations, { open: (request) => open(deps, request), ...showRuns(shown) });
}

/** A close with its counts: those of a running one are counted anew, as far as there is time. */
const viewOf =
  ({ store }: CloseRouteDeps) =>
  async (close: CloseDocument) =>
    viewClose(close, close.counts ?? (await store.count(close._id, COUNT_TIMEOUT_MS)));

type Open = typeof closeOperations.open;

async function open(
  deps: CloseRouteDeps,
  { query, body, operator }: ServedRequest<Open>,
): Promise<ServedAnswer<Open>> {
  const { closes } = deps;
  const window = readWindow(body, deps.railNames);
  if (!window.ok) return refused('invalid', window.refusal);
  if (query.dryRun !== 'false') {
    const preview = await closes.preview(window.value);
    if (!preview.ok) return refuseWindow(preview.refusal, window.value, deps);
    const { payments, exists } = preview.value;
    return payments
      ? answer(200, viewPreview(window.value, exists, payments, deps))
      : refused('unavailable', 'to: there is too much to count: ask for a shorter time');
  }
  const opened = await closes.open(window.value, operator);
  if (!opened.ok) return refuseWindow(opened.refusal, window.value, deps);
  return answer(opened.value.isNew ? 202 : 200, await viewOf(deps)(opened.value.run));
}

function readWindow(
  { date, from, to, ...narrowed }: ServedRequest<Open>['body'],
  railNames: readonly string[],
): Result<Window, string> {
  const rail = narrowed.rail ?? null;
  if (rail !== null && !railNames.includes(rail))
    return refuse(`rail: there is none of this name here, but ${railNames.join(', ')}`);
  if (date !== undefined) return accept(dayFrom(new Date(date), rail));
  if (!from || !to) throw new TypeError('neither a date nor a time was let through');
  return accept({ from, to, rail });
}

function refuseWindow(refusal: WindowRefusal, { to }: Window, { closeLagMs }: CloseRouteDeps) {
  switch (refusal) {
    case 'window.empty':
      return refused('invalid', 'from must be before to');
    case 'window.too_long':
      return refused('invalid', `to: a close is about ${WINDOW_DAYS_MAX} days at most`);
    case 'window.not_over': {
      const since = new Date(to.getTime() + closeLagMs).toISOString();
      const message = `to: events of this time may still be on their way: it can be closed from ${since} on`;
      return refused('not_over', message);
    }
    default:
      return unreachable(refusal);
  }
}

function viewPreview(
  window: Window,
  exists: boolean,
  payments: ReadonlyMap<string, number>,
  deps: CloseRouteDeps,
): ClosePreviewView {
  const rails = [...payments].map(([rail, count]) => ({
    rail,
    payments: count,
    atLeastSeconds: Math.ceil(count / deps.perSecondOf(rail)),
  }));
  return {
    id: closeIdOf(window),
    from: window.from.toISOString(),
    to: window.to.toISOString(),
    rail: window.rail,
    exists,
    payments: rails.reduce((sum, one) => sum + one.payments, 0),
    rails,
  };
}

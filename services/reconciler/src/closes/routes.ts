import { type ClosePreviewView, closeOperations } from '@pesewa/contracts';
import { accept, type Result, refuse, unreachable } from '@pesewa/kernel';
import { answer, refused, type ServedAnswer, type ServedRequest, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { answerFile } from '../exports.ts';
import type { ClosePreview, Closes } from './closes.ts';
import { exportClose } from './export.ts';
import type { CloseRecord } from './store.ts';
import { viewClose, viewRecord } from './views.ts';
import { type CloseWindow, dayFrom, WINDOW_DAYS_MAX, type WindowRefusal } from './window.ts';

const CLOSES_PER_PAGE = 50;

/** The dependencies of the routes of closes. */
export interface CloseRouteDeps {
  readonly closes: Closes;
  /** The configured rails. */
  readonly railNames: readonly string[];
  /** How long after its end a window can be closed. */
  readonly closeLagMs: number;
  /** How often a close may ask a rail. */
  readonly closePollsPerSecond: number;
  /** Whether the shared token, which belongs to no person, may start closes: only in development. */
  readonly allowsSharedToken: boolean;
}

/** Adds the routes of daily closes (ADR 29). */
export function addCloseRoutes(operator: Hono, deps: CloseRouteDeps): void {
  const { closes } = deps;
  serveOperations(
    operator,
    closeOperations,
    {
      open: (request) => open(deps, request),
      list: async ({ query: { cursor } }) => {
        const found = await closes.list({ before: cursor, limit: CLOSES_PER_PAGE });
        const next = found.length === CLOSES_PER_PAGE ? (found.at(-1)?.close._id ?? null) : null;
        return answer(200, { items: found.map(viewClose), next });
      },
      show: async ({ parameters: { id } }) => {
        const found = await closes.find(id);
        return found ? answer(200, viewClose(found)) : unknown;
      },
      records: async ({ parameters: { id: close }, query: { result, cursor: after, limit } }) => {
        if (!(await closes.find(close))) return unknown;
        const items = await firstOf(closes.records({ close, result, after }), limit + 1);
        const page = items.slice(0, limit);
        const next = items.length > limit ? (page.at(-1)?.reference ?? null) : null;
        return answer(200, { items: page.map(viewRecord), next });
      },
      export: async ({ parameters: { id }, query: { format, result } }) => {
        const found = await closes.find(id);
        if (!found) return unknown;
        if (found.close.stage !== 'done') {
          const message = 'id: the close is not done, so not all is known: export it once its status is done';
          return refused('not_done', message);
        }
        const records = closes.records({ close: found.close._id, result });
        return answerFile(`close-${found.close._id}`, format, exportClose(found, records, format));
      },
    },
    deps.allowsSharedToken,
  );
}

const unknown = refused('not_found', 'id: there is no such close');

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
    const { payments } = preview.value;
    return payments
      ? answer(200, viewPreview(preview.value, payments, deps))
      : refused('unavailable', 'to: there is too much to count: ask for a shorter time');
  }
  const opened = await closes.open(window.value, operator);
  if (!opened.ok) return refuseWindow(opened.refusal, window.value, deps);
  return answer(opened.value.isNew ? 202 : 200, viewClose(opened.value));
}

function readWindow(
  { date, from, to, ...narrowed }: ServedRequest<Open>['body'],
  railNames: readonly string[],
): Result<CloseWindow, string> {
  const rail = narrowed.rail ?? null;
  if (rail !== null && !railNames.includes(rail))
    return refuse(`rail: there is none of this name here, but ${railNames.join(', ')}`);
  if (date !== undefined) return accept(dayFrom(new Date(date), rail));
  if (!from || !to) throw new TypeError('neither a date nor a time was let through');
  return accept({ from, to, rail });
}

function refuseWindow(refusal: WindowRefusal, { to }: CloseWindow, { closeLagMs }: CloseRouteDeps) {
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
  { id, window, exists }: ClosePreview,
  payments: ReadonlyMap<string, number>,
  deps: CloseRouteDeps,
): ClosePreviewView {
  const rails = [...payments].map(([rail, count]) => ({
    rail,
    payments: count,
    atLeastSeconds: Math.ceil(count / deps.closePollsPerSecond),
  }));
  return {
    id,
    from: window.from.toISOString(),
    to: window.to.toISOString(),
    rail: window.rail,
    exists,
    payments: rails.reduce((sum, one) => sum + one.payments, 0),
    rails,
  };
}

async function firstOf(records: AsyncIterable<CloseRecord>, count: number): Promise<readonly CloseRecord[]> {
  const first: CloseRecord[] = [];
  for await (const record of records) {
    first.push(record);
    if (first.length === count) break;
  }
  return first;
}

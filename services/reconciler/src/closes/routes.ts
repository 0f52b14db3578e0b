import { describeProblem, firstProblem } from '@pesewa/contracts';
import { type Result, unreachable } from '@pesewa/kernel';
import { answerJson, forNamedOperators, operatorOf, readOperatorBody, refuseOperator } from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { closeResults } from '../domain/close.ts';
import { exportHeaders, recordQueries } from '../exports.ts';
import type { ClosePreview, CloseProgress, Closes } from './closes.ts';
import { exportClose } from './export.ts';
import type { CloseRecord } from './store.ts';
import { viewClose, viewRecord } from './views.ts';
import { type CloseWindow, dayFrom, WINDOW_DAYS_MAX, type WindowRefusal } from './window.ts';

const CLOSES_PER_PAGE = 50;

const day = z.iso.date({ error: 'must be a date such as 2026-11-20' });
const time = z.iso
  .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-20T08:00:00Z' })
  .transform((text) => new Date(text));

const closeBody = z
  .strictObject(
    { date: day.optional(), from: time.optional(), to: time.optional(), rail: z.string().optional() },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `${issue.keys.join(', ')} is no field of a close`
          : 'the body must be a JSON object',
    },
  )
  .refine(({ date, from, to }) => (date === undefined ? from && to : !from && !to), {
    error: 'either date, or both from and to, are required',
  });

const flag = z.enum(['', 'true', 'false'], { error: 'must be true or false' });
const listQuery = z.object({ cursor: z.string().max(120).optional() });
const { recordQuery, exportQuery } = recordQueries(closeResults);

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
  readonly sharedMayOrder: boolean;
}

/** Adds the routes of daily closes (ADR 29). */
export function addCloseRoutes(operator: Hono, deps: CloseRouteDeps): void {
  const { closes } = deps;
  operator.post('/closes', forNamedOperators(deps.sharedMayOrder));
  operator.post('/closes', async (context) => {
    const dryRun = flag.safeParse(context.req.query('dryRun') ?? 'false');
    if (!dryRun.success) return refuseOperator(context, 400, 'invalid', 'dryRun must be true or false');
    const window = await readWindow(context, deps.railNames);
    if (!window.ok) return window.refusal;
    if (dryRun.data !== 'false') {
      const preview = await closes.preview(window.value);
      if (!preview.ok) return refuseWindow(context, preview.refusal, window.value, deps);
      const { payments } = preview.value;
      return payments
        ? answerJson(context, 200, viewPreview(preview.value, payments, deps))
        : refuseOperator(
            context,
            503,
            'unavailable',
            'to: there is too much to count: ask for a shorter time',
          );
    }
    const opened = await closes.open(window.value, operatorOf(context));
    if (!opened.ok) return refuseWindow(context, opened.refusal, window.value, deps);
    return answerJson(context, opened.value.isNew ? 202 : 200, viewClose(opened.value));
  });
  operator.get('/closes', async (context) => {
    const query = listQuery.safeParse(context.req.query());
    if (!query.success) return misunderstood(context, query.error);
    const found = await closes.list({ before: query.data.cursor, limit: CLOSES_PER_PAGE });
    const next = found.length === CLOSES_PER_PAGE ? (found.at(-1)?.close._id ?? null) : null;
    return answerJson(context, 200, { items: found.map(viewClose), next });
  });
  operator.get('/closes/:id', async (context) => {
    const found = await closes.find(context.req.param('id'));
    return found ? answerJson(context, 200, viewClose(found)) : unknown(context);
  });
  addRecordRoutes(operator, deps);
}

function addRecordRoutes(operator: Hono, { closes }: CloseRouteDeps): void {
  operator.get('/closes/:id/records', async (context) => {
    const query = recordQuery.safeParse(context.req.query());
    if (!query.success) return misunderstood(context, query.error);
    const close = context.req.param('id');
    if (!(await closes.find(close))) return unknown(context);
    const { cursor: after, limit } = query.data;
    const items = await firstOf(closes.records({ close, result: query.data.result, after }), limit + 1);
    const page = items.slice(0, limit);
    const next = items.length > limit ? (page.at(-1)?.reference ?? null) : null;
    return answerJson(context, 200, { items: page.map(viewRecord), next });
  });
  operator.get('/closes/:id/export', async (context) => {
    const query = exportQuery.safeParse(context.req.query());
    if (!query.success) return misunderstood(context, query.error);
    const found: CloseProgress | undefined = await closes.find(context.req.param('id'));
    if (!found) return unknown(context);
    if (found.close.stage !== 'done') {
      const message = 'id: the close is not done, so not all is known: export it once its status is done';
      return refuseOperator(context, 409, 'not_done', message);
    }
    const { format, result: wanted } = query.data;
    const records = closes.records({ close: found.close._id, result: wanted });
    const headers = exportHeaders(`close-${found.close._id}`, format);
    return context.newResponse(exportClose(found, records, format), { status: 200, headers });
  });
}

async function readWindow(
  context: Context,
  railNames: readonly string[],
): Promise<Result<CloseWindow, Response>> {
  const body = await readOperatorBody(context, closeBody);
  if (!body.ok) return body;
  const { date, from, to, rail = null } = body.value;
  if (rail !== null && !railNames.includes(rail)) {
    const message = `rail: there is none of this name here, but ${railNames.join(', ')}`;
    return { ok: false, refusal: refuseOperator(context, 400, 'invalid', message) };
  }
  if (date !== undefined) return { ok: true, value: dayFrom(new Date(date), rail) };
  if (!from || !to) throw new TypeError('neither a date nor a time was let through');
  return { ok: true, value: { from, to, rail } };
}

function refuseWindow(
  context: Context,
  refusal: WindowRefusal,
  { to }: CloseWindow,
  { closeLagMs }: CloseRouteDeps,
): Response {
  switch (refusal) {
    case 'window.empty':
      return refuseOperator(context, 400, 'invalid', 'from must be before to');
    case 'window.too_long':
      return refuseOperator(context, 400, 'invalid', `to: a close is about ${WINDOW_DAYS_MAX} days at most`);
    case 'window.not_over': {
      const since = new Date(to.getTime() + closeLagMs).toISOString();
      const message = `to: events of this time may still be on their way: it can be closed from ${since} on`;
      return refuseOperator(context, 409, 'not_over', message);
    }
    default:
      return unreachable(refusal);
  }
}

function viewPreview(
  { id, window, exists }: ClosePreview,
  payments: ReadonlyMap<string, number>,
  deps: CloseRouteDeps,
) {
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

function misunderstood(context: Context, error: z.ZodError): Response {
  return refuseOperator(context, 400, 'invalid', describeProblem(firstProblem(error)));
}

function unknown(context: Context): Response {
  return refuseOperator(context, 404, 'not_found', 'id: there is no such close');
}

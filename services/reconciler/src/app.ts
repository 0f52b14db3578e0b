import { formatAmount } from '@pesewa/kernel';
import { answerJson, type Logger } from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { BreakDocument, BreakStore } from './breaks.ts';
import type { Comparison } from './comparison.ts';
import { addDecisionRoutes, type DecisionRouteDeps, timelineOf } from './decision-routes.ts';
import type { Decision } from './domain/decisions.ts';
import type { Tracked } from './domain/tracked.ts';
import type { WorkingStore } from './store.ts';
import type { RunDocument, WalletStore } from './wallets.ts';

const LIMIT = { default: 50, most: 200 } as const;

const listQuery = z.object({
  reference: z.string().max(120).optional(),
  status: z.enum(['open', 'resolved']).optional(),
  rail: z.string().max(40).optional(),
  currency: z.string().max(3).optional(),
  cursor: z.string().max(240).optional(),
  limit: z.coerce.number().int().min(1).max(LIMIT.most).default(LIMIT.default),
});

/** Adds the reconciler's operator routes (design 1): breaks, drift, runs, timeline, decisions, a comparison on demand. */
export function addOperatorRoutes(
  operator: Hono,
  deps: DecisionRouteDeps & {
    readonly breaks: Pick<BreakStore, 'list'>;
    readonly wallets: Pick<WalletStore, 'latestRuns' | 'listRuns'>;
    readonly store: Pick<WorkingStore, 'load'>;
    readonly comparison: Comparison;
    readonly logger: Logger;
  },
): void {
  operator.onError((error, context) => {
    deps.logger.error({ err: error, route: context.req.routePath }, 'request failed');
    return answerJson(context, 500, { code: 'broken', message: 'something broke on our side' });
  });
  operator.get('/breaks', async (context) => {
    const query = listQuery.safeParse(context.req.query());
    if (!query.success) return malformed(context, query.error);
    const page = await deps.breaks.list(query.data);
    return answerJson(context, 200, { items: page.items.map(viewBreak), next: page.next });
  });
  operator.get('/drift', async (context) => {
    const runs = await deps.wallets.latestRuns();
    return answerJson(context, 200, { items: runs.map(viewRun), next: null });
  });
  operator.get('/runs', async (context) => {
    const query = listQuery.safeParse(context.req.query());
    if (!query.success) return malformed(context, query.error);
    const page = await deps.wallets.listRuns(query.data);
    return answerJson(context, 200, { items: page.items.map(viewRun), next: page.next });
  });
  operator.post('/compare', async (context) => {
    const runs = await deps.comparison.run();
    return answerJson(context, 200, { items: runs.map(viewRun), next: null });
  });
  operator.get('/timeline', async (context) => {
    const reference = context.req.query('reference') ?? '';
    const tracked = (await deps.store.load([reference])).get(reference);
    if (!tracked)
      return answerJson(context, 404, {
        code: 'not_found',
        message: 'no payment with this reference is known here',
      });
    const decided = await deps.decisions.list({ reference, limit: LIMIT.most });
    return answerJson(context, 200, viewTimeline(tracked, decided.items));
  });
  addDecisionRoutes(operator, deps);
}

function malformed(context: Context, error: z.ZodError): Response {
  const fields = error.issues.map(({ path }) => path.join('.')).join(', ');
  return answerJson(context, 400, { code: 'invalid', message: `not understood: ${fields}` });
}

function time(atMs: number): string {
  return new Date(atMs).toISOString();
}

function viewBreak(document: BreakDocument) {
  const { amount, currency } = document;
  return {
    id: document._id,
    kind: document.kind,
    reference: document.reference,
    status: document.status,
    currency,
    amount: amount === null || currency === null ? null : formatAmount(amount, currency),
    detail: document.detail,
    openedAt: document.openedAt.toISOString(),
    resolvedAt: document.resolvedAt?.toISOString() ?? null,
    resolution: document.resolution ?? null,
  };
}

function viewRun({ _id, at, rail, currency, withinRange, candidates, ...amounts }: RunDocument) {
  const text = (minor: bigint) => formatAmount(minor, currency);
  return {
    id: _id,
    at: at.toISOString(),
    rail,
    currency,
    railBalance: text(amounts.railBalance),
    float: text(amounts.float),
    drift: text(amounts.drift),
    lower: text(amounts.lower),
    upper: text(amounts.upper),
    withinRange,
    candidates,
  };
}

function viewTimeline(tracked: Tracked, decisions: readonly Decision[]) {
  const { terms } = tracked;
  const seen = tracked.history.map(({ what, detail, atMs, lastAtMs, times }) => ({
    at: time(atMs),
    what,
    detail,
    times,
    lastAt: time(lastAtMs),
  }));
  const decided = timelineOf(decisions)
    .toSorted((one, other) => Number(one.at) - Number(other.at))
    .map(({ at, detail }) => {
      const text = at.toISOString();
      return { at: text, what: 'decision', detail, times: 1, lastAt: text };
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

/** Puts each decision before the first later line; what the reconciler has seen stays in the order in which it was seen. */
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

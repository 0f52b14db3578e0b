import { answerJson, readOperatorQuery } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Coverage } from './coverage.ts';
import type { CoverageRun, CoverageStore } from './coverage-store.ts';

const listQuery = z.object({
  cursor: z.string().max(240).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** The dependencies of the routes of the coverage audit. */
export interface CoverageRouteDeps {
  readonly coverage: Pick<Coverage, 'start'>;
  readonly coverageStore: Pick<CoverageStore, 'list'>;
}

/** Adds the operator routes of the coverage audit (ADR 27): start one, and list the newest ones. */
export function addCoverageRoutes(operator: Hono, { coverage, coverageStore }: CoverageRouteDeps): void {
  operator.post('/coverage', (context) =>
    answerJson(context, 202, { id: coverage.start(), status: 'running' }),
  );
  operator.get('/coverage', async (context) => {
    const query = readOperatorQuery(context, listQuery);
    if (!query.ok) return query.refusal;
    const page = await coverageStore.list(query.value);
    return answerJson(context, 200, { items: page.items.map(viewRun), next: page.next });
  });
}

function viewRun({ _id, at, found, ...run }: CoverageRun) {
  return {
    id: _id,
    at: at.toISOString(),
    status: run.status,
    sources: (run.sources ?? []).map(({ kind, status, error }) => ({ kind, status, error: error ?? null })),
    read: run.read,
    tracked: run.tracked,
    missing: found['coverage.missing'],
    ended: found['coverage.ended'],
    behind: found['coverage.behind'],
    repaired: run.repaired,
    tookMs: run.tookMs,
  };
}

import { type CoverageView, coverageOperations } from '@pesewa/contracts';
import { answer, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Coverage } from './coverage.ts';
import type { CoverageRun, CoverageStore } from './coverage-store.ts';

/** The dependencies of the routes of the coverage audit. */
export interface CoverageRouteDeps {
  readonly coverage: Pick<Coverage, 'start'>;
  readonly coverageStore: Pick<CoverageStore, 'list'>;
}

/** Adds the operator routes of the coverage audit (ADR 27): start one, and list the newest ones. */
export function addCoverageRoutes(operator: Hono, { coverage, coverageStore }: CoverageRouteDeps): void {
  serveOperations(operator, coverageOperations, {
    start: () => answer(202, { id: coverage.start(), status: 'running' as const }),
    list: async ({ query }) => {
      const page = await coverageStore.list(query);
      return answer(200, { items: page.items.map(viewRun), next: page.next });
    },
  });
}

function viewRun({ _id, at, found, ...run }: CoverageRun): CoverageView {
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

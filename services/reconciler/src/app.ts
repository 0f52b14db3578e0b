import { comparisonOperations, type WalletComparisonView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { addBreakRoutes, type BreakRouteDeps } from './breaks/routes.ts';
import { addDecisionRoutes, type DecisionRouteDeps } from './decisions/routes.ts';
import { addPollRoutes } from './polling/routes.ts';
import { addTimelineRoutes } from './status/timeline.ts';
import type { WorkingStore } from './store.ts';
import type { Comparison } from './wallets/comparison.ts';
import type { RunDocument, WalletStore } from './wallets/store.ts';

/** Adds the reconciler's operator routes (ADR 60): breaks, drift, runs, timeline, decisions, a comparison and polls on demand. */
export function addOperatorRoutes(
  operator: Hono,
  deps: DecisionRouteDeps &
    BreakRouteDeps & {
      readonly wallets: Pick<WalletStore, 'wallets' | 'course' | 'listRuns'>;
      readonly store: Pick<WorkingStore, 'load' | 'bringForward'>;
      readonly comparison: Comparison;
      /** The configured rails: wallets of others are shown as they last were, and not compared any more. */
      readonly railNames: readonly string[];
    },
): void {
  const view = (run: RunDocument) => viewRun(run, deps.railNames.includes(run.rail));
  serveOperations(operator, comparisonOperations, {
    drift: async ({ query: { courses } }) => {
      const items = (await deps.wallets.wallets()).map(async ({ latest }) => {
        const course = courses && latest.drift !== 0n ? await deps.wallets.course(latest) : undefined;
        const text = (drift: bigint) => formatAmount(drift, latest.currency);
        return {
          ...view(latest),
          ...(course && {
            course: course.map(({ at, drift }) => ({ at: at.toISOString(), drift: text(drift) })),
          }),
        };
      });
      return answer(200, { items: await Promise.all(items), next: null });
    },
    runs: async ({ query }) => {
      const page = await deps.wallets.listRuns(query);
      return answer(200, { items: page.items.map(view), next: page.next });
    },
    compare: async () => {
      const runs = await deps.comparison.run();
      return answer(200, { items: runs.map(view), next: null });
    },
  });
  addTimelineRoutes(operator, deps);
  addPollRoutes(operator, deps);
  addBreakRoutes(operator, deps);
  addDecisionRoutes(operator, deps);
}

function viewRun(run: RunDocument, configured: boolean): WalletComparisonView {
  const { _id, at, rail, currency, withinRange, candidates, overdue, finding, explainedBy } = run;
  const text = (minor: bigint) => formatAmount(minor, currency);
  return {
    id: _id,
    at: at.toISOString(),
    rail,
    configured,
    currency,
    railBalance: text(run.railBalance),
    float: text(run.float),
    drift: text(run.drift),
    lower: text(run.lower),
    upper: text(run.upper),
    withinRange,
    finding,
    explainedBy,
    unexplained: text(run.unexplained),
    unexplainedSince: run.unexplainedSince?.toISOString() ?? null,
    overdue: overdue
      ? {
          ...overdue,
          isCut: overdue.isCut === true,
          mayDebit: text(overdue.mayDebit),
          mayCredit: text(overdue.mayCredit),
          oldestAt: overdue.oldestAt.toISOString(),
        }
      : null,
    candidates,
  };
}

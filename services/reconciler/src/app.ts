import { comparisonOperations, type WalletComparisonView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, answerJson, type Logger, serveOperations } from '@pesewa/runtime';
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
      readonly logger: Logger;
    },
): void {
  operator.onError((error, context) => {
    deps.logger.error({ err: error, route: context.req.routePath }, 'request failed');
    return answerJson(context, 500, { code: 'broken', message: 'something broke on our side' });
  });
  const view = (run: RunDocument) => viewRun(run, deps.railNames.includes(run.rail));
  serveOperations(operator, comparisonOperations, {
    drift: async ({ query: { courses } }) => {
      const items = (await deps.wallets.wallets()).map(async ({ latest }) => ({
        ...view(latest),
        ...(courses && latest.drift !== 0n && { course: await courseOf(deps, latest) }),
      }));
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

async function courseOf({ wallets }: { readonly wallets: Pick<WalletStore, 'course'> }, latest: RunDocument) {
  const course = await wallets.course(latest);
  return course.map(({ at, drift }) => ({
    at: at.toISOString(),
    drift: formatAmount(drift, latest.currency),
  }));
}

function viewRun(run: RunDocument, configured: boolean): WalletComparisonView {
  const { _id, at, rail, currency, withinRange, candidates, overdue, ...amounts } = run;
  const text = (minor: bigint) => formatAmount(minor, currency);
  return {
    id: _id,
    at: at.toISOString(),
    rail,
    configured,
    currency,
    railBalance: text(amounts.railBalance),
    float: text(amounts.float),
    drift: text(amounts.drift),
    lower: text(amounts.lower),
    upper: text(amounts.upper),
    withinRange,
    finding: run.finding,
    explainedBy: run.explainedBy,
    unexplained: text(amounts.unexplained),
    unexplainedSince: run.unexplainedSince?.toISOString() ?? null,
    overdue: overdue
      ? {
          count: overdue.count,
          isCut: overdue.isCut === true,
          mayDebit: text(overdue.mayDebit),
          mayCredit: text(overdue.mayCredit),
          oldestAt: overdue.oldestAt.toISOString(),
          references: overdue.references,
        }
      : null,
    candidates,
  };
}

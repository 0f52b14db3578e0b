import { comparisonOperations, type WalletComparisonView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answer, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Comparison } from './comparison.ts';
import type { RunDocument, WalletStore } from './store.ts';

/** Adds the operator routes of wallets: their drift, the runs, and a comparison on demand. */
export function addWalletRoutes(
  operator: Hono,
  deps: {
    readonly wallets: Pick<WalletStore, 'wallets' | 'course' | 'listRuns'>;
    readonly comparison: Comparison;
    /** The configured rails: wallets of others are shown as they last were, and not compared any more. */
    readonly railNames: readonly string[];
  },
): void {
  const view = (run: RunDocument) => viewRun(run, deps.railNames.includes(run.rail));
  serveOperations(operator, comparisonOperations, {
    drift: async ({ query: { courses } }) => {
      const items = (await deps.wallets.wallets()).map(async ({ latest }) => {
        if (!courses || latest.drift === 0n) return view(latest);
        const course = (await deps.wallets.course(latest)).map(({ at, drift }) => ({
          at: at.toISOString(),
          drift: formatAmount(drift, latest.currency),
        }));
        return { ...view(latest), course };
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
}

function viewRun({ _id: id, ...run }: RunDocument, configured: boolean): WalletComparisonView {
  const text = (minor: bigint) => formatAmount(minor, run.currency);
  return {
    ...run,
    id,
    configured,
    at: run.at.toISOString(),
    railBalance: text(run.railBalance),
    float: text(run.float),
    drift: text(run.drift),
    lower: text(run.lower),
    upper: text(run.upper),
    unexplained: text(run.unexplained),
    unexplainedSince: run.unexplainedSince?.toISOString() ?? null,
  };
}

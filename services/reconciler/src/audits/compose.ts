import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import type { RailFee } from '../handlers.ts';
import { countCoverage, gaugeAwaitingLedger } from '../metrics.ts';
import { type ReplicaJob, scheduleJob } from '../replica-jobs.ts';
import { type BooksDeps, countAwaiting, startBooks } from './books.ts';
import { type CoverageDeps, createCoverage } from './coverage.ts';
import { addCoverageRoutes } from './coverage-routes.ts';
import { openCoverageSources } from './coverage-source.ts';
import { openCoverageStore } from './coverage-store.ts';

/** The pause between rounds of the loop over the books. */
const BOOKS_PAUSE_MS = 1_000;

/** The dependencies of the audits. */
type Parts = Omit<CoverageDeps, 'sources' | 'coverageStore' | 'lagMs' | 'audited'> &
  Omit<BooksDeps, 'pauseMs' | 'graceMs' | 'limitMs' | 'requestsMax'> &
  Pick<ReplicaJob, 'messaging'> & { readonly railFee: RailFee };

/** Starts the audit of the working set and the loop over the books (ADR 27). */
export async function composeAudits(
  scope: ServiceScope<z.output<typeof settings>>,
  parts: Parts & { readonly messaging: { readonly database: Parameters<typeof openCoverageSources>[0] } },
): Promise<void> {
  const { config } = scope;
  const { messaging, store } = parts;
  await scope.open(
    'audit of the books',
    startBooks({
      ...parts,
      pauseMs: BOOKS_PAUSE_MS,
      graceMs: config.BOOKS_GRACE_MS,
      limitMs: config.STEP_LIMIT_MS,
      requestsMax: config.REPUBLISH_REQUESTS_MAX,
    }),
  );
  gaugeAwaitingLedger(scope.metrics, scope.clock, (before, timeoutMs) =>
    countAwaiting(store, before, timeoutMs),
  );
  const coverageStore = openCoverageStore(messaging.db, store.collection);
  const coverage = createCoverage({
    ...parts,
    coverageStore,
    sources: openCoverageSources(messaging.database, parts.railFee),
    lagMs: config.COVERAGE_LAG_MS,
    audited: countCoverage(scope.metrics),
  });
  await scope.open(
    'schedule of the coverage audit',
    scheduleJob({
      ...parts,
      name: 'coverage audit',
      interval: config.COVERAGE_INTERVAL,
      run: coverage.run,
    }),
  );
  // Opened last and so closed first, so that an audit in progress is aborted rather than awaited.
  await scope.open('coverage audit', coverage);
  addCoverageRoutes(scope.operator, { coverage, coverageStore });
}

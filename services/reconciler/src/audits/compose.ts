import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import { gauge, METRIC_TIMEOUT_MS, readInTime } from '../gauges.ts';
import type { RailFee } from '../handlers.ts';
import { countCoverage } from '../metrics.ts';
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
  gauge({
    registry: scope.metrics,
    name: 'payments_awaiting_ledger',
    help: 'Payments that still lack a ledger entry after the grace time and are not judged yet; no value while the database does not answer.',
    read: () =>
      readInTime(countAwaiting(store, new Date(scope.clock.nowMs()), METRIC_TIMEOUT_MS), scope.clock),
  });
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

import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import { gauge, METRIC_TIMEOUT_MS, readInTime } from '../gauges.ts';
import { countCoverage } from '../metrics.ts';
import { type ReplicaJob, scheduleJob } from '../replica-jobs.ts';
import { type BooksDeps, countAwaiting, startBooks } from './books.ts';
import { type CoverageDeps, createCoverage } from './coverage.ts';
import { addCoverageRoutes } from './coverage-routes.ts';

/** The dependencies of the audits. */
type Parts = Omit<CoverageDeps, 'lagMs' | 'audited'> &
  Omit<BooksDeps, 'pauseMs' | 'graceMs' | 'limitMs' | 'requestsMax'> &
  Pick<ReplicaJob, 'messaging'>;

/** Starts the audit of the working set and the loop over the books (ADR 27). */
export async function composeAudits(
  scope: ServiceScope<z.output<typeof settings>>,
  parts: Parts,
): Promise<void> {
  const { config } = scope;
  const { store, coverageStore } = parts;
  await scope.open(
    'audit of the books',
    startBooks({
      ...parts,
      pauseMs: config.BOOKS_PAUSE_MS,
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
  const coverage = createCoverage({
    ...parts,
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

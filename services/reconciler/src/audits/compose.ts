import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import { countCoverage } from '../metrics.ts';
import { type ReplicaJob, scheduleJob } from '../replica-jobs.ts';
import { type CoverageDeps, createCoverage } from './coverage.ts';
import { addCoverageRoutes } from './coverage-routes.ts';

/** Starts the audit of the working set (ADR 27). */
export async function composeAudits(
  scope: ServiceScope<z.output<typeof settings>>,
  parts: Omit<CoverageDeps, 'lagMs' | 'audited'> & Pick<ReplicaJob, 'messaging'>,
): Promise<void> {
  const { config } = scope;
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
  addCoverageRoutes(scope.operator, { coverage, coverageStore: parts.coverageStore });
}

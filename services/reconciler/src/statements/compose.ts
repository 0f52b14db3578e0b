import { DAY_MS } from '@pesewa/kernel';
import type { ServiceScope } from '@pesewa/runtime';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import { ageSeconds, gauge, METRIC_TIMEOUT_MS, readInTime } from '../gauges.ts';
import type { RailFee } from '../handlers.ts';
import type { WindowPayments } from '../matching/payments.ts';
import { createStatementBreaks, type StatementBreakDeps } from './breaks.ts';
import { createStatementIntake } from './intake.ts';
import { openMappingStore } from './mappings.ts';
import { addStatementRoutes } from './routes.ts';
import { type StatementDeps, startStatements } from './statements.ts';

type Parts = Pick<StatementBreakDeps, 'statementStore' | 'store' | 'breaks' | 'clock'> &
  Pick<StatementDeps, 'ids' | 'logger'> & {
    readonly messaging: StatementBreakDeps['messaging'] & StatementDeps['messaging'];
    readonly payments: WindowPayments;
    readonly railFee: RailFee;
    readonly railNames: readonly string[];
    /** The rails whose statement is their close. */
    readonly byStatement: readonly string[];
  };

/** Puts the statements of rails together; everything it opens closes with the scope. */
export async function composeStatements(
  scope: ServiceScope<z.output<typeof settings>>,
  parts: Parts,
): Promise<void> {
  const { config } = scope;
  const limits = { bytesMax: config.STATEMENT_BYTES_MAX, linesMax: config.STATEMENT_LINES_MAX };
  const statements = startStatements({
    ...parts,
    intake: createStatementIntake({ ...parts, limits }),
    statementBreaks: createStatementBreaks({ ...parts, openMax: config.STATEMENT_BREAKS_MAX }),
    statementKeepMs: config.STATEMENT_KEEP_DAYS * DAY_MS,
  });
  await scope.open('statements', statements);
  gaugeStatements(scope.metrics, parts);
  addStatementRoutes(scope.operator, {
    ...parts,
    statements,
    mappings: openMappingStore(parts.messaging.db),
  });
}

function gaugeStatements(registry: Registry, { statementStore, byStatement, clock }: Parts): void {
  const startedMs = clock.nowMs();
  const matched = { rail: { $in: [...byStatement] }, stage: 'done', trial: { $exists: false } };
  const ofRail = { _id: '$rail', until: { $max: { $ifNull: ['$to', '$lastAt'] } } };
  const readNewest = () =>
    statementStore.runs
      .aggregate<{ _id: string; until: Date | null }>([{ $match: matched }, { $group: ofRail }], {
        maxTimeMS: METRIC_TIMEOUT_MS,
      })
      .toArray();
  gauge({
    registry,
    name: 'last_statement_age_seconds',
    help: 'Time since the end of what matched statements cover, by rail that sends them; since the start if there is none.',
    labelNames: ['rail'],
    read: async () => {
      const found = await readInTime(readNewest(), clock);
      const untilOf = new Map(found?.map(({ _id, until }) => [_id, until]));
      return (
        found && byStatement.map((rail) => [{ rail }, ageSeconds(untilOf.get(rail) ?? startedMs, clock)])
      );
    },
  });
}

import { DAY_MS } from '@pesewa/kernel';
import type { ServiceScope } from '@pesewa/runtime';
import type { z } from 'zod';
import type { settings } from '../config.ts';
import type { RailFee } from '../handlers.ts';
import type { WindowPayments } from '../matching/payments.ts';
import { scheduleJob } from '../replica-jobs.ts';
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
  const lateEnds = scheduleJob({
    ...parts,
    name: 'late ends of statements',
    interval: config.CLOSE_INTERVAL,
    run: () => statements.lookForLate(parts.byStatement),
  });
  await scope.open('schedule of late ends of statements', lateEnds);
  addStatementRoutes(scope.operator, {
    ...parts,
    statements,
    mappings: openMappingStore(parts.messaging.db),
  });
}

import { createTimelines, createWaiting, readWallet } from '@pesewa/operator-client';
import type { Surroundings } from '../config.ts';
import type { CliPorts } from '../ports.ts';
import { createBreaks } from './breaks.ts';
import { createFileCaller } from './call.ts';
import { createCloses } from './closes.ts';
import { createDecisions } from './decisions.ts';
import { createOrders } from './orders.ts';
import { createParked } from './parked.ts';
import { createPositions } from './positions.ts';
import { createRailStatements } from './rail-statements.ts';
import { createReconciliation } from './reconciliation.ts';
import { createSettingsClient } from './settings.ts';
import { createStatements } from './statements.ts';

/** The operator APIs that commands talk to (ADR 60): any operation, and what takes more than one. */
export type Operations = ReturnType<typeof createOperations>;

/** Builds {@link Operations} over the resolved addresses; a missing one matters only when it is used. */
export function createOperations(
  ports: Pick<CliPorts, 'exchange' | 'download' | 'upload' | 'clock' | 'progress'>,
  surroundings: Surroundings,
) {
  const caller = createFileCaller(ports, surroundings);
  return {
    ...caller,
    orders: createOrders(ports, caller),
    settings: createSettingsClient(caller),
    statements: createStatements(ports, caller),
    decisions: createDecisions(caller),
    closes: createCloses(caller),
    railStatements: createRailStatements(caller),
    breaks: createBreaks(caller),
    parked: createParked(caller),
    positions: createPositions(caller),
    account: (merchantId: string, currency: string) => readWallet(caller, merchantId, currency),
    reconciliation: createReconciliation(caller),
    waiting: createWaiting(caller),
    timelines: createTimelines(caller),
  };
}

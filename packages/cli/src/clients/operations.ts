import { accountOperations, type WalletView } from '@pesewa/contracts';
import { createTimelines, createWaiting, RefusedError } from '@pesewa/operator-client';
import type { Addresses } from '../config.ts';
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

const NOT_FOUND = 404;

/** The operator APIs that commands talk to (ADR 60): any operation, and what takes more than one. */
export type Operations = ReturnType<typeof createOperations>;

/** Builds {@link Operations} over the resolved addresses; a missing one matters only when it is used. */
export function createOperations(
  ports: Pick<CliPorts, 'exchange' | 'download' | 'upload' | 'clock' | 'progress'>,
  addresses: Addresses,
) {
  const caller = createFileCaller(ports, addresses);
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
    /** A wallet; one without entries is empty. */
    account: async (
      merchantId: string,
      currency: string,
    ): Promise<Pick<WalletView, 'currency' | 'available' | 'held' | 'sequence'>> => {
      try {
        return await caller.call('ledger', accountOperations.wallet, {
          parameters: { merchantId, currency },
        });
      } catch (error) {
        if (!(error instanceof RefusedError) || error.status !== NOT_FOUND) throw error;
        return { currency, available: '0', held: '0', sequence: 0 };
      }
    },
    /** The balance of our float at a rail; undefined if it has no entries. */
    float: async (rail: string, currency: string) => {
      const { items } = await caller.call('ledger', accountOperations.floats, {});
      return items.find((float) => float.rail === rail && float.currency === currency)?.balance;
    },
    reconciliation: createReconciliation(caller),
    waiting: createWaiting(caller),
    timelines: createTimelines(caller),
  };
}

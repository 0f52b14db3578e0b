import { accountOperations, type WalletView } from '@pesewa/contracts';
import type { Addresses } from '../config.ts';
import { RefusedError } from '../errors.ts';
import type { CliPorts } from '../ports.ts';
import { type Breaks, createBreaks } from './breaks.ts';
import { type Caller, createCaller } from './call.ts';
import { type Closes, createCloses } from './closes.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { createTimelines, type Timelines } from './fetch-timeline.ts';
import { createOrders, type Orders } from './orders.ts';
import { createParked, type Parked } from './parked.ts';
import { createPositions, type Positions } from './positions.ts';
import { createRailStatements, type RailStatements } from './rail-statements.ts';
import { createReconciliation, type Reconciliation } from './reconciliation.ts';
import { createStatements, type Statements } from './statements.ts';

const NOT_FOUND = 404;

/** The operator APIs that commands talk to (ADR 60, ADR 63): any operation, and what takes more than one. */
export interface Operations extends Caller {
  readonly orders: Orders;
  readonly statements: Statements;
  readonly decisions: Decisions;
  readonly closes: Closes;
  readonly railStatements: RailStatements;
  readonly breaks: Breaks;
  readonly parked: Parked;
  readonly positions: Positions;
  /** A wallet; one without entries is empty. */
  readonly account: (
    merchantId: string,
    currency: string,
  ) => Promise<Pick<WalletView, 'currency' | 'available' | 'held' | 'sequence'>>;
  /** The balance of our float at a rail; undefined if it has no entries. */
  readonly float: (rail: string, currency: string) => Promise<string | undefined>;
  readonly reconciling: Reconciliation;
  readonly timelines: Timelines;
}

/** Builds {@link Operations} over the resolved addresses; a missing one matters only when it is used. */
export function createOperations(
  ports: Pick<CliPorts, 'exchange' | 'download' | 'upload' | 'clock' | 'progress'>,
  addresses: Addresses,
): Operations {
  const caller = createCaller(ports, addresses);
  return {
    ...caller,
    orders: createOrders(ports, caller),
    statements: createStatements(ports, caller),
    decisions: createDecisions(caller),
    closes: createCloses(caller),
    railStatements: createRailStatements(caller),
    breaks: createBreaks(caller),
    parked: createParked(caller),
    positions: createPositions(caller),
    account: async (merchantId, currency) => {
      try {
        return await caller.call('ledger', accountOperations.wallet, {
          parameters: { merchantId, currency },
        });
      } catch (error) {
        if (!(error instanceof RefusedError) || error.status !== NOT_FOUND) throw error;
        return { currency, available: '0', held: '0', sequence: 0 };
      }
    },
    float: async (rail, currency) => {
      const { items } = await caller.call('ledger', accountOperations.floats, {});
      return items.find((float) => float.rail === rail && float.currency === currency)?.balance;
    },
    reconciling: createReconciliation(caller),
    timelines: createTimelines(caller),
  };
}

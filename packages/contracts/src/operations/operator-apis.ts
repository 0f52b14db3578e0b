import type { ConsumerGroup, MessagingService } from '../services.ts';
import { accountOperations } from './accounts.ts';
import { actionOperations } from './actions.ts';
import { availabilityOperations } from './availability.ts';
import { breakChanges, breakOperations } from './breaks.ts';
import { callbackOperations } from './callbacks.ts';
import { callerOperations } from './callers.ts';
import { closeOperations } from './closes.ts';
import { decisionOperations } from './decisions.ts';
import { deliveryOperations } from './deliveries.ts';
import { endpointOperations } from './endpoints.ts';
import { healthOperations } from './health.ts';
import type { Operations } from './operation.ts';
import { orderOperations, proposalOperations } from './orders.ts';
import { parkedOperations } from './parked.ts';
import { pauseOperations } from './pauses.ts';
import { cancellationOperations, paymentOperations } from './payments.ts';
import { positionOperations } from './positions.ts';
import { railStatementOperations, statementMappingOperations } from './rail-statements.ts';
import {
  comparisonOperations,
  coverageOperations,
  pollOperations,
  statusOperations,
  timelineOperations,
} from './reconciliation.ts';
import { changeOperations, settingsOperations } from './settings.ts';

/** What every service has, and what those have in addition that consume topics. */
const common = { caller: callerOperations, actions: actionOperations, health: healthOperations } as const;
const consuming = { parked: parkedOperations, positions: positionOperations, ...common } as const;

const gateway = {
  payments: paymentOperations,
  pauses: pauseOperations,
  availability: availabilityOperations,
} as const;

/** The operator API of each service, in parts by name. */
export const operatorApis = {
  'payout-gateway': { ...gateway, cancellations: cancellationOperations, ...consuming },
  'collection-gateway': { ...gateway, ...consuming },
  'webhook-ingress': { callbacks: callbackOperations, ...common },
  reconciler: {
    status: statusOperations,
    timeline: timelineOperations,
    polls: pollOperations,
    comparison: comparisonOperations,
    coverage: coverageOperations,
    breaks: { ...breakOperations, ...breakChanges },
    decisions: decisionOperations,
    closes: closeOperations,
    statements: railStatementOperations,
    mappings: statementMappingOperations,
    ...consuming,
  },
  ledger: {
    accounts: accountOperations,
    orders: { ...proposalOperations, ...orderOperations },
    settings: { ...changeOperations, ...settingsOperations },
    ...consuming,
  },
  'webhook-dispatcher': { deliveries: deliveryOperations, endpoints: endpointOperations, ...consuming },
} as const satisfies Readonly<Record<MessagingService | ConsumerGroup, Readonly<Record<string, Operations>>>>;

export * from './countries.ts';
export * from './csv.ts';
export * from './events/avro.ts';
export * from './events/causes.ts';
export * from './events/identities.ts';
export * from './events/topics.ts';
export * from './failure-reasons.ts';
export * from './http/availability.ts';
export * from './http/collections.ts';
export * from './http/conditional-fields.ts';
export * from './http/error-codes.ts';
export * from './http/inquiries.ts';
export * from './http/payouts.ts';
export * from './http/sample-requests.ts';
export * from './http/security-module.ts';
export * from './iso-codes.ts';
export * from './json.ts';
export * from './ledger-pages.ts';
export * from './mobile-numbers.ts';
export * from './mobile-operators.ts';
export * from './operations/accounts.ts';
export * from './operations/actions.ts';
export * from './operations/availability.ts';
export * from './operations/breaks.ts';
export * from './operations/callbacks.ts';
export * from './operations/callers.ts';
export * from './operations/closes.ts';
export * from './operations/decisions.ts';
export * from './operations/deliveries.ts';
export * from './operations/endpoints.ts';
export * from './operations/health.ts';
export * from './operations/lists.ts';
export * from './operations/operation.ts';
export * from './operations/operator-apis.ts';
export * from './operations/orders.ts';
export * from './operations/parked.ts';
export * from './operations/pauses.ts';
export * from './operations/payments.ts';
export * from './operations/positions.ts';
export * from './operations/rail-statements.ts';
export * from './operations/reconciliation.ts';
export * from './operations/roles.ts';
export * from './operations/settings.ts';
export * from './operations/statement-mapping.ts';
export {
  type AmountLimit,
  type ChangeKind,
  type FeeBody,
  type KeyScope,
  keyScopes,
  type Wanted,
  wantedShapes,
} from './operations/wanted-settings.ts';
export * from './payments.ts';
export * from './problems.ts';
export * from './services.ts';
export * from './simulator.ts';
export * from './text.ts';

import { repositoryRoot } from './command.ts';
import { listSourceFiles } from './source-files.ts';

/**
 * Integration tests that `npm test` leaves to `npm run test:all`: each takes more than ten seconds, or what it proves depends
 * on how fast the machine is.
 */
export const leftToWholeRun: ReadonlySet<string> = new Set([
  'packages/kafka/src/security.int.test.ts',
  'packages/messaging/src/inbox/position.int.test.ts',
  'packages/messaging/src/database/stalled.int.test.ts',
  'packages/messaging/src/inbox/transaction-expired.int.test.ts',
  'packages/messaging/src/inbox/versions.int.test.ts',
  'packages/messaging/src/messaging.int.test.ts',
  'packages/messaging/src/operators/realign.int.test.ts',
  'packages/messaging/src/outbox/kafka-away.int.test.ts',
  'packages/runtime/src/ending.int.test.ts',
  'packages/runtime/src/several.int.test.ts',
  'services/ledger/src/audit.int.test.ts',
  'services/ledger/src/restored.int.test.ts',
  'services/ledger/src/roll-forward.int.test.ts',
  'services/ledger/src/scenarios.int.test.ts',
  'services/payout-gateway/src/prepare.int.test.ts',
  'services/payout-gateway/src/restored.int.test.ts',
  'services/reconciler/src/breaks/one-discrepancy.int.test.ts',
  'services/reconciler/src/closes/closes.int.test.ts',
  'services/reconciler/src/closes/mishaps.int.test.ts',
  'services/reconciler/src/decisions/outcomes.int.test.ts',
  'services/reconciler/src/matching/runs.int.test.ts',
  'services/reconciler/src/polling/found-again.int.test.ts',
  'services/reconciler/src/polling/polling.int.test.ts',
  'services/reconciler/src/polling/unknown.int.test.ts',
  'services/reconciler/src/steps/books.int.test.ts',
  'services/reconciler/src/steps/audit.int.test.ts',
  'services/reconciler/src/steps/entries.int.test.ts',
  'services/reconciler/src/steps/steps.int.test.ts',
  'services/reconciler/src/wallets/on-its-way.int.test.ts',
  'services/webhook-ingress/src/callbacks.int.test.ts',
]);

/** The slowest first: two stacks run side by side, and none should be left alone at the end. */
const scenarios: readonly string[] = [
  'test/conformance/collection-api.test.ts',
  'test/conformance/payout-api.test.ts',
  'test/scenarios/crash-kinds.test.ts',
  'test/scenarios/collection-digits.test.ts',
  'test/scenarios/payout-digits.test.ts',
  'test/scenarios/collection-decisions.test.ts',
  'test/scenarios/crash-completion.test.ts',
  'test/scenarios/origins.test.ts',
];

/** The tests on real daemons that `npm test` runs, as paths from the root of the repository. */
export const presubmitFiles = (kind: 'int' | 'scenarios'): readonly string[] => {
  if (kind === 'scenarios') return scenarios;
  return listSourceFiles(repositoryRoot).filter(
    (file) => file.endsWith('.int.test.ts') && !leftToWholeRun.has(file),
  );
};

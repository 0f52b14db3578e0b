import type { ServiceName } from '@pesewa/contracts';
import { type CrashAt, rowsAt } from './crash-runner.ts';

/** A crash point at which a service dies, and the payouts in progress meanwhile. */
export interface CrashRow extends CrashAt {
  readonly payouts: readonly PayoutScenario[];
  /** How the payouts are requested: one by one, as one batch, or from a wallet with a daily limit. */
  readonly as: 'singles' | 'batch' | 'limited';
}

/** A payout by its magic number, with its expected final state (contract 10.18). */
export interface PayoutScenario {
  readonly digits: string;
  readonly status: 'COMPLETED' | 'FAILED' | 'INITIALIZED';
  readonly entries: readonly string[];
  readonly executions: number;
  /** The webhooks that the merchant received, each counted once by its webhook-id. */
  readonly webhooks: readonly string[];
  /** How many callbacks the reconciler has received; if there is one, the test has sent it. */
  readonly hints: number;
  readonly breaks: readonly string[];
}

/** No callback ever arrives: only polls find the end. */
const paid: PayoutScenario = {
  digits: '0002',
  status: 'COMPLETED',
  entries: ['capture', 'fee', 'hold', 'railCost'],
  executions: 1,
  webhooks: ['COMPLETED'],
  hints: 0,
  breaks: [],
};
const failing: PayoutScenario = {
  ...paid,
  digits: '0003',
  status: 'FAILED',
  entries: ['hold', 'release'],
  executions: 0,
  webhooks: ['FAILED'],
};
/** It stays pending for ever, with a callback that claims an end; the break shows that the callback was not lost. */
const claimed: PayoutScenario = {
  digits: '0017',
  status: 'INITIALIZED',
  entries: ['hold'],
  executions: 0,
  webhooks: [],
  hints: 1,
  breaks: ['callback.denied'],
};

const at = (
  service: ServiceName,
  points: readonly (string | readonly [string, number])[],
  payouts: readonly PayoutScenario[],
  as: CrashRow['as'] = 'singles',
): readonly CrashRow[] => rowsAt(service, points, { payouts, as });

const relay = ['relay.before-send', 'relay.after-send', 'relay.after-removal'];

const payoutGateway = [
  ...at(
    'payout-gateway',
    [
      'payouts.accept.before-commit',
      'payouts.accept.after-commit',
      ...relay,
      'payout-gateway.batch.before-commit',
      'payout-gateway.batch.after-commit',
      'payouts.submit.before-call',
      'payouts.submit.after-call',
      'payouts.outcome.before-commit',
      'payouts.outcome.after-commit',
    ],
    [paid, failing],
  ),
  ...at(
    'payout-gateway',
    [
      'payouts.accept-batch.before-commit',
      'payouts.accept-batch.after-commit',
      // At the second pass some of the batch's items have been sent.
      ['payouts.submit.before-call', 2],
      ['payouts.submit.after-call', 2],
    ],
    [paid, paid, failing, paid],
    'batch',
  ),
  ...at(
    'payout-gateway',
    ['payouts.accept-counted.before-commit', 'payouts.accept-counted.after-commit'],
    [paid],
    'limited',
  ),
];

const ledger = at(
  'ledger',
  ['ledger.batch.before-commit', 'ledger.batch.after-commit', ...relay],
  [paid, failing],
);

const webhookIngress = at(
  'webhook-ingress',
  // The answer to the rail does not matter: the same bytes again are a repetition, and only the sweeper publishes.
  ['callbacks.accept.before-commit', 'callbacks.accept.after-commit', ...relay],
  [claimed],
);

const reconciler = at(
  'reconciler',
  [
    'reconciler.batch.before-commit',
    'reconciler.batch.after-commit',
    // Two payouts are due at once: at the second pass half a page has been polled.
    ['reconciler.poll.before-call', 2],
    ['reconciler.poll.after-call', 2],
    'reconciler.poll.before-commit',
    'reconciler.poll.after-commit',
    'reconciler.comparison.after-lease',
    'reconciler.comparison.before-commit',
    'reconciler.comparison.after-commit',
  ],
  [paid, failing],
);

const webhookDispatcher = at(
  'webhook-dispatcher',
  [
    'webhook-dispatcher.batch.before-commit',
    'webhook-dispatcher.batch.after-commit',
    'webhooks.deliver.before-call',
    'webhooks.deliver.after-call',
    'webhooks.outcome.before-commit',
    'webhooks.outcome.after-commit',
  ],
  [paid, failing],
);

/**
 * Every crash point of the payout flow (docs/crash-points.md).
 *
 * The rows of a sequence run one after another, and the sequences side by side; no service is in two of them.
 */
export const crashSequences: readonly (readonly CrashRow[])[] = [
  payoutGateway,
  [...ledger, ...webhookDispatcher],
  [...webhookIngress, ...reconciler],
];

/** Crash points without a row, by service, and the reason; those that no payment passes are listed elsewhere. */
export const crashExceptions: readonly { readonly points: RegExp; readonly reason: string }[] = [
  { points: /^collection-gateway\//, reason: 'the flow of collections' },
  { points: /\/reconciler\.(proposal|decision)\./, reason: 'operators decide amounts of collections alone' },
  {
    points: /^(reconciler|webhook-dispatcher)\/relay\.|\/reconciler\.unknown\./,
    reason: 'the same for both: with the collections',
  },
];

import { crashSequences } from './crash-rows.ts';
import { describePayoutCrashes } from './payout-crashes.ts';

/** A crash of each kind: at a call, at a commit, in a batch, between sending and removal, at a delivery. */
const kinds = new Set([
  'payout-gateway/payouts.submit.after-call/singles',
  'payout-gateway/payouts.outcome.before-commit/singles',
  'payout-gateway/relay.after-send/singles',
  'ledger/ledger.batch.after-commit/singles',
  'webhook-dispatcher/webhooks.deliver.after-call/singles',
]);

describePayoutCrashes(
  'crash-kinds',
  crashSequences
    .map((sequence) => sequence.filter(({ service, point, as }) => kinds.has(`${service}/${point}/${as}`)))
    .filter((sequence) => sequence.length > 0),
);

import type { ServiceName } from '@pesewa/stack';

/** A named line at which a service dies, and the payouts that are under way meanwhile. */
export interface CrashRow {
  readonly service: ServiceName;
  readonly point: string;
  /** Dies at the n-th pass; the first where it isn't said. */
  readonly pass?: number;
  readonly payouts: readonly PayoutStory[];
  /** The next row of the lane waits until these payouts have ended, so that passes are counted from there. */
  readonly alone: boolean;
}

/** A payout by its magic number, and what must have become of it (design 6). */
export interface PayoutStory {
  readonly digits: string;
  readonly status: 'COMPLETED' | 'FAILED' | 'REVERSED';
  readonly entries: readonly string[];
  readonly executions: number;
  /** What the merchant was told, each once by its webhook-id. */
  readonly told: readonly string[];
}

const paid: PayoutStory = {
  digits: '9999',
  status: 'COMPLETED',
  entries: ['capture', 'fee', 'hold', 'railCost'],
  executions: 1,
  told: ['COMPLETED'],
};
/** No callback ever comes: only polls find its end. */
const silent: PayoutStory = { ...paid, digits: '0002' };
const failing: PayoutStory = {
  digits: '0003',
  status: 'FAILED',
  entries: ['hold', 'release'],
  executions: 0,
  told: ['FAILED'],
};
/** That it is reversed only its second callback tells, so no callback may be lost. */
const reversed: PayoutStory = {
  digits: '0014',
  status: 'REVERSED',
  entries: [...paid.entries, 'refund'],
  executions: 1,
  told: ['COMPLETED', 'REVERSED'],
};

const at = (
  service: ServiceName,
  points: readonly (string | readonly [string, number])[],
  payouts: readonly PayoutStory[],
  alone = false,
): readonly CrashRow[] =>
  points.map((point) =>
    typeof point === 'string'
      ? { service, point, payouts, alone }
      : { service, point: point[0], pass: point[1], payouts, alone },
  );

const relay = ['relay.before-send', 'relay.after-send', 'relay.after-mark'];

/**
 * Every named point of the payout flow (research/reliability.md 5.3), as one lane per service.
 *
 * A lane's rows follow one another, the lanes run side by side: so the service of every other lane may be dying, too.
 */
export const crashLanes: readonly (readonly CrashRow[])[] = [
  at(
    'payout-gateway',
    [
      'payouts.accept.before-commit',
      'payouts.accept.after-commit',
      ...relay,
      'payout-gateway.chunk.before-commit',
      'payout-gateway.chunk.after-commit',
      'payouts.submit.before-call',
      'payouts.submit.after-call',
      'payouts.outcome.before-commit',
      'payouts.outcome.after-commit',
    ],
    [silent, failing],
  ),
  at('ledger', ['ledger.chunk.before-commit', 'ledger.chunk.after-commit', ...relay], [silent, failing]),
  // The second pass: the callback of the reversal.
  at(
    'webhook-ingress',
    [
      ['callbacks.accept.before-commit', 2],
      ['callbacks.accept.after-commit', 2],
      ['relay.before-send', 2],
      ['relay.after-send', 2],
    ],
    [reversed],
    true,
  ),
  at(
    'reconciler',
    [
      'reconciler.chunk.before-commit',
      'reconciler.chunk.after-commit',
      // Two payouts are claimed at once: at the second pass, one page is half asked.
      ['reconciler.poll.before-call', 2],
      ['reconciler.poll.after-call', 2],
      'reconciler.poll.before-commit',
      'reconciler.poll.after-commit',
      'reconciler.comparison.after-lease',
      'reconciler.comparison.before-commit',
      'reconciler.comparison.after-commit',
    ],
    [silent, failing],
  ),
  at(
    'webhook-dispatcher',
    [
      'webhook-dispatcher.chunk.before-commit',
      'webhook-dispatcher.chunk.after-commit',
      'webhooks.deliver.before-call',
      'webhooks.deliver.after-call',
      'webhooks.outcome.before-commit',
      'webhooks.outcome.after-commit',
    ],
    [silent, failing],
  ),
];

/** The points that no row is about, and why. */
export const crashExceptions: readonly { readonly points: RegExp; readonly reason: string }[] = [
  { points: /^collections\./, reason: 'the flow of collections' },
  { points: /^collection-gateway\./, reason: 'the flow of collections' },
  { points: /^ledger\.command/, reason: "operators' orders to the ledger, no payouts" },
];

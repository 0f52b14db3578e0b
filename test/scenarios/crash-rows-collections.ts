import type { CollectionRequest } from '@pesewa/stack';
import { type CrashAt, rowsAt } from './crash-runner.ts';

/** The fields of a collection by one mobile operator, and what its flow asks of the merchant (contract 2.8). */
interface Flow {
  readonly order: Pick<CollectionRequest, 'operatorCode' | 'country' | 'currency' | 'amount'>;
  /** The customer's number without its last digits. */
  readonly dialling: string;
  /** The completion that the merchant sends; null if only the customer completes the collection. */
  readonly completion: { readonly otpCode: string | undefined } | null;
}

const gambia = (operatorCode: string, completion: Flow['completion']): Flow => ({
  order: { operatorCode, country: 'GM', currency: 'GMD', amount: '100.50' },
  dialling: '220',
  completion,
});
const ivoryCoast = (operatorCode: string, completion: Flow['completion']): Flow => ({
  order: { operatorCode, country: 'CI', currency: 'XOF', amount: '1500' },
  dialling: '225',
  completion,
});

const link = gambia('GMWAV', null);
const otherLink = ivoryCoast('CIWAV', null);
const stk = ivoryCoast('CIMTN', null);
const stkThenComplete = gambia('GMAFR', { otpCode: undefined });
const sixDigits = gambia('GMQMO', { otpCode: '123456' });
const fourDigits = ivoryCoast('CIORA', { otpCode: '1234' });
const singleStep: Flow = {
  order: { operatorCode: 'GHMTN', country: 'GH', currency: 'GHS', amount: '20' },
  dialling: '233',
  completion: null,
};
const otherSingleStep: Flow = {
  order: { operatorCode: 'KESAF', country: 'KE', currency: 'KES', amount: '250' },
  dialling: '254',
  completion: null,
};

/** A collection by its flow and magic number, with its expected final state (contract 10.18). */
export interface CollectionScenario {
  readonly flow: Flow;
  readonly digits: string;
  readonly status: 'COMPLETED' | 'FAILED' | 'PENDING';
  readonly entries: readonly string[];
  /** How often the rail took money; below, how often it accepted the initiation and a completion. */
  readonly executions: number;
  readonly payins: number;
  readonly completions: number;
  /** The webhooks that the merchant received, each counted once by its webhook-id. */
  readonly webhooks: readonly string[];
  /** The kinds of its breaks, with the status of those that are no longer open. */
  readonly breaks: readonly string[];
  /** A callback that a stranger sends: one that claims the end. */
  readonly callback?: 'forged';
  /** The amount that two operators decide the customer paid. */
  readonly decided?: string;
}

/** No callback ever arrives: only polls find the end. */
const paid = (flow: Flow, digits = '0002'): CollectionScenario => ({
  flow,
  digits,
  status: 'COMPLETED',
  entries: ['collect', 'fee', 'railCost'],
  executions: 1,
  payins: 1,
  completions: flow.completion === null ? 0 : 1,
  webhooks: ['COMPLETED'],
  breaks: [],
});

const failing = (flow: Flow, digits = '0003'): CollectionScenario => ({
  ...paid(flow, digits),
  status: 'FAILED',
  entries: [],
  executions: 0,
  webhooks: ['FAILED'],
});

/** It stays pending for ever; the break shows that the callback, which changes nothing, was not lost. */
const claimed = (flow: Flow): CollectionScenario => ({
  ...failing(flow, '0017'),
  status: 'PENDING',
  webhooks: [],
  breaks: ['callback.denied'],
  callback: 'forged',
});

/** Its callback claims another amount than was requested, so it stays pending until two operators decide the amount. */
const decided = (flow: Flow): CollectionScenario => ({
  ...paid(flow, '0012'),
  decided: flow.order.amount,
  breaks: ['collection.amount_differs (resolved)'],
});

/** The five flows, by both mobile operators where there are two, and two collections that the customer declines. */
const everyFlow = [
  ...[link, otherLink, stk, stkThenComplete, sixDigits, fourDigits, singleStep, otherSingleStep].map((flow) =>
    paid(flow),
  ),
  failing(stk),
  failing(sixDigits),
];

/** A crash point at which a service dies, and the collections in progress meanwhile. */
export interface CollectionCrashRow extends CrashAt {
  readonly collections: readonly CollectionScenario[];
  /** What the merchant does with the crash point armed: initiate and complete, or only complete earlier collections. */
  readonly armed: 'initiation' | 'completion';
  /** The next row begins only after the merchants and operators of this one are done. */
  readonly unhurried?: true;
  /**
   * The step and the number of tries that the dead process must have stored for at least one of the collections,
   * before another process continues it; or `nothing`, if none of the collections may be stored.
   */
  readonly leaves?: 'nothing' | { readonly steps: readonly string[]; readonly tries: number };
}

const relay = ['relay.before-send', 'relay.after-send', 'relay.after-removal'];
const batch = (service: string) => [`${service}.batch.before-commit`, `${service}.batch.after-commit`];

const initiating = { collections: everyFlow, armed: 'initiation' } as const;
const completing = {
  collections: [paid(stkThenComplete), paid(sixDigits), paid(fourDigits), failing(sixDigits)],
  armed: 'completion',
} as const;
/** A single collection: its completion is the first outbox record that is sent, its end the second. */
const alone = (flow: Flow, digits?: string) => ({
  collections: [paid(flow, digits)],
  armed: 'completion' as const,
  leaves: { steps: ['ended'], tries: 1 },
});

const waiting = ['awaitingOtp', 'awaitingCompletion', 'awaitingCustomer'];
const unanswered = { ...initiating, leaves: { steps: ['initiating'], tries: 0 } };
const answered = { ...initiating, leaves: { steps: waiting, tries: 0 } };
const untried = { ...completing, leaves: { steps: waiting, tries: 0 } };
const tried = { ...completing, leaves: { steps: waiting, tries: 1 } };
const taken = { ...completing, leaves: { steps: ['completing'], tries: 1 } };

const gateway = (points: Parameters<typeof rowsAt>[1], rest: Omit<CollectionCrashRow, 'service' | 'point'>) =>
  rowsAt('collection-gateway', points, rest);

/**
 * Rows after which a grace time or a lease must run out are followed by rows that can start meanwhile: a row with
 * `leaves` begins only after all collections before it have ended.
 */
const collectionGateway: readonly CollectionCrashRow[] = [
  ...gateway(['collections.accept.before-commit'], { ...initiating, leaves: 'nothing' }),
  ...gateway(['collections.outcome.before-commit'], unanswered),
  ...gateway(['collections.outcome.after-commit'], answered),
  ...gateway([['collections.initiate.after-call', 5]], unanswered),
  ...gateway(relay, initiating),
  ...gateway(['collections.accept.after-commit'], unanswered),
  ...gateway(batch('collection-gateway'), initiating),
  ...gateway([['collections.initiate.before-call', 5]], unanswered),
  ...gateway(['collections.complete.before-commit'], untried),
  ...gateway([['collections.complete.after-call', 4]], tried),
  ...gateway(['collections.outcome.before-commit'], tried),
  ...gateway(['collections.outcome.after-commit'], taken),
  ...gateway(['collections.complete.after-commit'], tried),
  ...gateway(batch('collection-gateway'), completing),
  ...gateway([['collections.complete.before-call', 4]], tried),
  ...gateway([['relay.before-send', 2]], alone(stkThenComplete)),
  ...gateway([['relay.after-send', 2]], alone(sixDigits)),
  // The end comes by a fact, seconds after the completion: no removal takes the outbox records of both.
  ...gateway(['relay.after-removal'], { ...alone(fourDigits, '0008'), text: 'rails.collection-facts' }),
];

const ledger: readonly CollectionCrashRow[] = rowsAt('ledger', batch('ledger'), initiating);

const webhookDispatcher: readonly CollectionCrashRow[] = rowsAt(
  'webhook-dispatcher',
  [...batch('webhook-dispatcher'), ...relay],
  initiating,
);

/** The rail's callbacks for every flow, one that arrives three times, one that is late, and one from a stranger. */
const webhookIngress: readonly CollectionCrashRow[] = rowsAt(
  'webhook-ingress',
  ['callbacks.accept.before-commit', 'callbacks.accept.after-commit'],
  {
    collections: [
      ...[link, stk, stkThenComplete, sixDigits, singleStep].map((flow) => paid(flow, '4321')),
      paid(otherLink, '0009'),
      failing(otherSingleStep, '0001'),
      claimed(stk),
    ],
    armed: 'initiation',
  },
);

const reconciler: readonly CollectionCrashRow[] = rowsAt(
  'reconciler',
  [
    ...batch('reconciler'),
    // Several collections are due at once: at the third pass half a page has been polled.
    ['reconciler.poll.before-call', 3],
    ['reconciler.poll.after-call', 3],
    'reconciler.poll.before-commit',
    'reconciler.poll.after-commit',
    ...relay,
  ],
  initiating,
);

const operatorsDeciding: readonly CollectionCrashRow[] = rowsAt(
  'reconciler',
  [
    'reconciler.proposal.before-commit',
    'reconciler.proposal.after-commit',
    'reconciler.decision.before-commit',
    'reconciler.decision.after-commit',
  ],
  {
    // A single collection, not polled before its callback: without a callback the requested amount counts.
    collections: [decided(stk)],
    armed: 'initiation',
    environment: { FIRST_POLL_AFTER_MS: '20000' },
    unhurried: true,
  },
);

/**
 * Every crash point that a collection passes (docs/crash-points.md), in consecutive acts.
 *
 * The sequences of an act run side by side; while the gateway crashes, only its own row's collections are in progress.
 */
export const collectionCrashActs: readonly (readonly (readonly CollectionCrashRow[])[])[] = [
  [collectionGateway],
  [[...ledger, ...webhookDispatcher, ...webhookIngress], reconciler],
  // They run alone, because a rail gives up on a callback if the ingress crashes too often to accept it.
  [operatorsDeciding],
];

/** Crash points without a row, by service, and the reason; those that no payment passes are listed elsewhere. */
export const collectionCrashExceptions: readonly { readonly points: RegExp; readonly reason: string }[] = [
  { points: /^payout-gateway\//, reason: 'the flow of payouts' },
  {
    points: /^(ledger|webhook-ingress)\/relay\./,
    reason: 'sends entries and callbacks of any payment: covered with the payouts',
  },
  {
    points: /\/webhooks\.(deliver|outcome)\./,
    reason: 'delivers bodies of any content: covered with the payouts',
  },
  {
    points: /\/reconciler\.comparison\./,
    reason: 'compares wallets, not payments: covered with the payouts',
  },
];

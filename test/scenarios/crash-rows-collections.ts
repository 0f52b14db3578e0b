import type { CollectionRequest } from '@pesewa/stack';
import { type CrashAt, rowsAt } from './crash-runner.ts';

/** What a collection by one operator is made of, and what its flow asks of the merchant (contract 2.8). */
interface Flow {
  readonly order: Pick<CollectionRequest, 'operatorCode' | 'country' | 'currency' | 'amount'>;
  /** Before the number's own digits. */
  readonly dialling: string;
  /** What completes it; null where nothing does but the customer. */
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

/** A collection by its flow and magic number, and what must have become of it (contract 10.18). */
export interface CollectionScenario {
  readonly flow: Flow;
  readonly digits: string;
  readonly status: 'COMPLETED' | 'FAILED' | 'PENDING';
  readonly entries: readonly string[];
  /** How often the rail took money, took the initiation on, and took a completion on. */
  readonly executions: number;
  readonly payins: number;
  readonly completions: number;
  /** What the merchant was told, each once by its webhook-id. */
  readonly webhooks: readonly string[];
  /** The kinds of its breaks, with their status where they are not open any more. */
  readonly breaks: readonly string[];
  /** What comes from outside: a stranger's callback that claims the end, or one that speaks of no collection of ours. */
  readonly callback?: 'forged' | 'unknownReference';
  /** What two operators decide that the customer paid. */
  readonly decided?: string;
}

/** No callback ever comes: only polls find its end. */
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

/** Pending for ever: the break tells that the callback, which moved nothing, was not lost. */
const claimed = (flow: Flow): CollectionScenario => ({
  ...failing(flow, '0017'),
  status: 'PENDING',
  webhooks: [],
  breaks: ['callback.denied'],
  callback: 'forged',
});

/** Its callback tells another amount than was asked: pending until two operators say what it was. */
const decided = (flow: Flow): CollectionScenario => ({
  ...paid(flow, '0012'),
  decided: flow.order.amount,
  breaks: ['collection.amount_differs (resolved)'],
});

/** The five flows, by both operators where there are two, and two that the customer declines. */
const everyFlow = [
  ...[link, otherLink, stk, stkThenComplete, sixDigits, fourDigits, singleStep, otherSingleStep].map((flow) =>
    paid(flow),
  ),
  failing(stk),
  failing(sixDigits),
];

/** A named line at which a service dies, and the collections that are under way meanwhile. */
export interface CollectionCrashRow extends CrashAt {
  readonly collections: readonly CollectionScenario[];
  /** What the merchant does with the point armed: initiate and complete, or complete what was initiated before. */
  readonly armed: 'initiation' | 'completion';
  /** The next row begins only once the merchants and operators of this one are done. */
  readonly unhurried?: true;
  /**
   * What the dead process must have left of at least one of the collections, before anyone has gone on with it: the
   * step and the tries counted; or of none of them anything.
   */
  readonly leaves?: 'nothing' | { readonly steps: readonly string[]; readonly tries: number };
}

const relay = ['relay.before-send', 'relay.after-send', 'relay.after-mark'];
const batch = (service: string) => [`${service}.batch.before-commit`, `${service}.batch.after-commit`];

const initiating = { collections: everyFlow, armed: 'initiation' } as const;
const completing = {
  collections: [paid(stkThenComplete), paid(sixDigits), paid(fourDigits), failing(sixDigits)],
  armed: 'completion',
} as const;
/** One alone: its completion is the first outbox record that is sent, its end the second. */
const alone = (flow: Flow) => ({
  collections: [paid(flow)],
  armed: 'completion' as const,
  leaves: { steps: ['ended'], tries: 1 },
});

const waiting = ['awaitingOtp', 'awaitingCompletion', 'awaitingCustomer'];
const unanswered = { ...initiating, leaves: { steps: ['initiating'], tries: 0 } };
const answered = { ...initiating, leaves: { steps: waiting, tries: 0 } };
const untried = { ...completing, leaves: { steps: waiting, tries: 0 } };
const tried = { ...completing, leaves: { steps: waiting, tries: 1 } };
const taken = { ...completing, leaves: { steps: ['completing'], tries: 1 } };

const gateway = (points: Parameters<typeof rowsAt>[1], rest: Omit<CollectionCrashRow, keyof CrashAt>) =>
  rowsAt('collection-gateway', points, rest);

/**
 * Rows after which a grace time or a lease has to run out are followed by rows that don't mind: a row with `leaves`
 * begins only once everything before it has ended.
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
  ...gateway([['relay.after-mark', 2]], alone(fourDigits)),
];

const ledger: readonly CollectionCrashRow[] = rowsAt('ledger', batch('ledger'), initiating);

const webhookDispatcher: readonly CollectionCrashRow[] = rowsAt(
  'webhook-dispatcher',
  [...batch('webhook-dispatcher'), ...relay],
  initiating,
);

/** Callbacks of the rail for every flow, one that comes three times, one that is late, and one of a stranger. */
const webhookIngress: readonly CollectionCrashRow[] = rowsAt(
  'webhook-ingress',
  ['callbacks.accept.before-commit', 'callbacks.accept.after-commit', ...relay],
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
    // Several are due at once: at the third pass a page is half asked.
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
    // One alone, and no poll before its callback: without one the amount asked counts.
    collections: [decided(stk)],
    armed: 'initiation',
    environment: { FIRST_POLL_AFTER_MS: '20000' },
    unhurried: true,
  },
);

const unknownReferences: readonly CollectionCrashRow[] = rowsAt(
  'reconciler',
  ['reconciler.unknown.before-commit', 'reconciler.unknown.after-commit'],
  {
    collections: [{ ...paid(singleStep), callback: 'unknownReference' }],
    armed: 'initiation',
    environment: { UNKNOWN_REFERENCE_GRACE_MS: '1000' },
  },
);

/**
 * Every named point that a collection passes (ARCHITECTURE.md, "A crash where, what happens"), in acts that follow one another.
 *
 * The sequences of an act run side by side; while the gateway dies, only its own row's collections are under way.
 */
export const collectionCrashActs: readonly (readonly (readonly CollectionCrashRow[])[])[] = [
  [collectionGateway],
  [[...ledger, ...webhookDispatcher, ...webhookIngress], reconciler],
  // By themselves: a rail gives a callback up that an ingress which keeps dying does not take.
  [operatorsDeciding],
  // Last, since these rows wait for no payment to turn up.
  [unknownReferences],
];

/** The points that no row is about, by their service, and why; beside those that no payment passes. */
export const collectionCrashExceptions: readonly { readonly points: RegExp; readonly reason: string }[] = [
  { points: /^payout-gateway\//, reason: 'the flow of payouts' },
  { points: /^ledger\/relay\./, reason: 'sends entries, whatever they are about: with the payouts' },
  {
    points: /\/webhooks\.(deliver|outcome)\./,
    reason: 'delivers bodies, whatever they tell: with the payouts',
  },
  { points: /\/reconciler\.comparison\./, reason: 'looks at wallets, not at payments: with the payouts' },
];

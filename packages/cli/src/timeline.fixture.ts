import type { CallbackView, DeliveryView, EntryView, PaymentView, TimelineView } from '@pesewa/contracts';

/** A time of the fixtures, by milliseconds from their start. */
export const at = (ms: number) => new Date(Date.UTC(2026, 0, 2) + ms).toISOString();

/** A payout that was unclear, sent again, and completed by the rail's answer to a poll. */
export const payout: PaymentView = {
  kind: 'payout',
  reference: 'po-1',
  merchantId: 'demo',
  merchantReference: 'order-1',
  batchReference: null,
  rail: 'upstream',
  currency: 'GHS',
  amount: '100',
  fee: '1',
  railFee: '0.5',
  amountReceived: null,
  status: 'COMPLETED',
  step: 'ended',
  version: 7,
  reason: 'Successful',
  acceptedAt: at(0),
  attempts: 2,
  attemptedAt: at(60),
  earlierUnclear: true,
  dueAt: null,
  steps: [
    { at: at(20), what: 'held', attempt: null, claimedAt: null, notKept: 0 },
    { at: at(40), what: 'no clear answer from the rail', attempt: 1, claimedAt: at(30), notKept: 0 },
    {
      at: at(50),
      what: 'not found at the rail, to be sent again',
      attempt: 1,
      claimedAt: at(30),
      notKept: 0,
    },
    { at: at(70), what: 'acknowledged by the rail', attempt: 2, claimedAt: at(60), notKept: 0 },
    { at: at(100), what: 'completed', attempt: 2, claimedAt: at(60), notKept: 0 },
  ],
};

/** The claims of the rail's callback about it. */
export const callback: CallbackView = {
  id: 'cb-1',
  rail: 'upstream',
  kind: 'payout',
  state: 'passed_on',
  reference: 'po-1',
  claimedStatus: 'COMPLETED',
  claimedAmount: '100',
  claimedCurrency: 'GHS',
  failure: null,
  deliveries: 2,
  timesPassedOn: 1,
  conflicts: 0,
  digest: 'd0',
  messageId: null,
  claimedFee: null,
  otherDigests: [],
  passedOnDigest: 'd0',
  lastReceivedAt: '2026-01-02T03:04:05.000Z',
  passedOnAt: '2026-01-02T03:04:05.000Z',
  forgetAt: '2026-02-02T03:04:05.000Z',
  verdict: { address: 'any', signature: 'verified', proven: false },
  receivedAt: at(80),
};

/** What the reconciler knows of it. */
export const seen: TimelineView = {
  reference: 'po-1',
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'GHS',
  amount: '100',
  status: 'completed',
  polls: 1,
  nextPollAt: null,
  items: [
    { at: at(85), what: 'hint', detail: 'COMPLETED', times: 2, lastAt: at(86), notKept: 0 },
    { at: at(90), what: 'poll', detail: 'completed', times: 1, lastAt: at(90), notKept: 0 },
  ],
  next: null,
};

const entry = (kind: string, ms: number): EntryView => ({
  id: `po-1/${kind}`,
  at: at(ms),
  kind,
  debit: 'wallet:demo:GHS:available',
  credit: 'wallet:demo:GHS:held',
  amount: '100',
  currency: 'GHS',
  reference: 'po-1',
  causationId: 'ev-1',
});

/** The ledger's entries for it. */
export const entries = [entry('capture', 110), entry('hold', 20)];

/** The webhook about it. */
export const delivery: Omit<DeliveryView, 'attempts'> = {
  id: 'wh-1',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'order-1',
  kind: 'payout-completed',
  state: 'delivered',
  reason: null,
  createdAt: at(110),
  dueAt: null,
  lastStatus: 200,
  lastError: null,
};

/** The webhook's attempts: the merchant was unreachable at first. */
export const webhookAttempts = [
  { at: at(120), error: 'timeout', durationMs: 10 },
  { at: at(130), status: 200, durationMs: 4 },
];

import type {
  BreakView,
  CallbackView,
  CollectionView,
  DecisionView,
  DeliveryView,
  EntryView,
  ListedPayment,
  PayoutView,
  ShownBreakView,
  TimelineView,
} from '@pesewa/contracts';

/** What somebody could write to break a page. */
export const HOSTILE = '"><script>alert(1)</script>';
export const page = (...items: readonly unknown[]) => ({ items, next: null });

const at = '2026-11-27T11:55:00.000Z';

/** A payout that the rail has taken, and that is stuck. */
export const payout = {
  kind: 'payout',
  reference: 'po-1',
  merchantId: 'demo',
  merchantReference: 'order-1',
  batchReference: null,
  rail: 'upstream',
  currency: 'GHS',
  amount: '1200.5',
  fee: '12',
  railFee: '0',
  amountReceived: null,
  status: 'INITIALIZED',
  step: 'submitted',
  version: 4,
  reason: null,
  acceptedAt: '2026-11-27T10:00:00.000Z',
  attempts: 1,
  attemptedAt: at,
  earlierUnclear: false,
  dueAt: null,
  steps: [{ at, what: 'no clear answer from the rail', attempt: 1, claimedAt: at, notKept: 0 }],
} satisfies PayoutView;

export const collection = {
  ...payout,
  kind: 'collection',
  reference: 'co-1',
  status: 'PENDING',
  operatorCode: 'GHMTN',
  flow: 'stk',
  completions: 0,
  completionClosed: true,
} satisfies CollectionView;

export const listed = {
  reference: 'po-1',
  merchantId: 'demo',
  merchantReference: 'order-1',
  rail: 'upstream',
  currency: 'GHS',
  amount: '1200.5',
  fee: '12',
  status: 'INITIALIZED',
  step: 'submitted',
  reason: null,
  acceptedAt: '2026-11-27T11:00:00.000Z',
} satisfies ListedPayment;

export const stuck = {
  id: 'po-1/status',
  kind: 'payment.stuck',
  reference: 'po-1',
  rail: 'upstream',
  status: 'assigned',
  currency: 'GHS',
  amount: '1200.5',
  detail: 'no end after 20 polls',
  owner: 'kofi',
  explanation: null,
  openedAt: at,
  since: at,
  resolvedAt: null,
  resolution: null,
  resolvedBy: null,
  version: 1,
} satisfies BreakView;

export const shownBreak = {
  ...stuck,
  observations: [],
  corrections: [],
  history: [],
  ours: null,
  theirs: null,
  lines: [],
  floatChange: null,
  waitsFor: null,
} satisfies ShownBreakView;

const seen = {
  reference: 'po-1',
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'GHS',
  amount: '1200.5',
  status: 'open',
  polls: 20,
  nextPollAt: '2026-11-27T12:00:30.000Z',
  items: [{ at, what: 'poll', detail: 'pending', times: 1, lastAt: at, notKept: 0 }],
  next: null,
} satisfies TimelineView;

const callback = {
  id: 'cb-1',
  rail: 'upstream',
  kind: 'payout',
  digest: 'd',
  messageId: null,
  state: 'passed_on',
  reference: 'po-1',
  claimedStatus: HOSTILE,
  claimedAmount: '1',
  claimedCurrency: null,
  claimedFee: null,
  failure: null,
  deliveries: 3,
  timesPassedOn: 1,
  conflicts: 0,
  otherDigests: [],
  passedOnDigest: null,
  verdict: { address: 'any', signature: 'not_required', proven: false },
  receivedAt: at,
  lastReceivedAt: at,
  passedOnAt: at,
  forgetAt: at,
} satisfies CallbackView;

const hold = {
  id: 'po-1/hold',
  at,
  kind: 'hold',
  debit: 'wallet:demo:GHS:available',
  credit: 'wallet:demo:GHS:held',
  amount: '1212.5',
  currency: 'GHS',
  reference: 'po-1',
  causationId: 'ev-1',
} satisfies EntryView;

export const webhook = {
  id: 'po-1-failed',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'order-1',
  kind: 'payout-failed',
  state: 'exhausted',
  attempts: 1,
  createdAt: at,
  dueAt: null,
  lastStatus: 500,
  lastError: null,
  reason: HOSTILE,
} satisfies DeliveryView;

export const decision = {
  id: 'dc-1',
  breakId: 'po-1/status',
  reference: 'po-1',
  currency: 'GHS',
  amount: '1200.5',
  merchantId: 'demo',
  rail: 'upstream',
  outcome: 'failed',
  note: HOSTILE,
  status: 'proposed',
  requestedBy: 'ama',
  requestedAt: at,
} satisfies DecisionView;

/** What all services answer about the payout. */
export const answers = {
  'payout-gateway GET /payments': payout,
  'webhook-ingress GET /callbacks': page(callback),
  'reconciler GET /timeline': seen,
  'reconciler GET /breaks': page(stuck),
  'reconciler GET /breaks/po-1%2Fstatus': shownBreak,
  'reconciler GET /decisions': page(),
  'ledger GET /entries': page(hold),
  'webhook-dispatcher GET /deliveries': page(webhook),
  'webhook-dispatcher GET /deliveries/po-1-failed/attempts': page({ at, status: 500, durationMs: 12 }),
};

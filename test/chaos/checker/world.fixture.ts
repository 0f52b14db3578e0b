import { formatAmount } from '@pesewa/kernel';
import type { Call, Delivery, Flow, Payment, PaymentEvent, RailMove, Received, World } from './world.ts';

/** The traces of one payment, a part of a world. */
type Traces = Pick<
  World,
  | 'calls'
  | 'payments'
  | 'events'
  | 'entries'
  | 'ledgerEvents'
  | 'moves'
  | 'deliveries'
  | 'received'
  | 'breaks'
  | 'callbacks'
>;

const START_MS = 1_800_000_000_000;

interface Sketch {
  readonly flow: Flow;
  readonly status: 'COMPLETED' | 'FAILED' | 'REVERSED' | 'INITIALIZED' | 'PENDING';
  readonly batchReference?: string;
}

/** All traces of one payment of 100.00, consistent with one another. */
function tracesOf(reference: string, { flow, status, batchReference }: Sketch): Traces {
  const api = flow === 'payout' ? 'payout' : 'collection';
  const isPaid = status === 'COMPLETED' || status === 'REVERSED';
  const ends = status === 'REVERSED' ? (['completed', 'reversed'] as const) : endsOf(status);
  const types = ['opened', 'submitted', ...ends] as const;
  const payment: Payment = {
    api,
    merchantId: 'demo',
    merchantReference: `m-${reference}`,
    reference,
    // The rail never ends a payment with these digits (contract 10.18).
    content: ends.length > 0 ? '10000 KES 1234' : '10000 KES 0017',
    amount: 10_000n,
    currency: 'KES',
    fee: 100n,
    status,
    version: BigInt(types.length),
    attempts: 1,
    completionAttempts: flow === 'otp' ? 1 : 0,
    acceptedAtMs: START_MS,
    attemptedAtMs: START_MS + 10,
    batchReference: batchReference ?? null,
    flow,
    amountReceived: isPaid ? 10_000n : 0n,
  };
  const events = types.map(
    (type, at): PaymentEvent => ({
      id: `${reference}/${type}`,
      type,
      reference,
      merchantId: 'demo',
      merchantReference: payment.merchantReference,
      version: BigInt(at + 1),
      atMs: START_MS + at,
    }),
  );
  const deliveries = ends.map(
    (end): Delivery => ({
      id: `wh-${reference}-${end}`,
      merchantId: 'demo',
      reference,
      kind: `${api}-${end}`,
      body: bodyOf(payment, end),
      state: 'delivered',
    }),
  );
  return {
    calls: batchReference === undefined ? [accepted(payment)] : [],
    payments: [payment],
    events,
    entries: entryKinds(api, status).map((kind) => ({ reference, kind })),
    ledgerEvents: entryKinds(api, status).map((kind) => ({ reference, kind })),
    moves: movesOf(payment),
    deliveries,
    received: deliveries.map(
      (delivery): Received => ({
        merchantId: 'demo',
        path: `/merchant/demo/${api}s`,
        webhookId: delivery.id,
        body: delivery.body,
        reference,
      }),
    ),
    breaks:
      ends.length > 0 ? [] : [{ id: `${reference}/status`, kind: 'payment.stuck', reference, isOpen: true }],
    callbacks: ends.map((end) => ({ reference, status: end.toUpperCase(), amount: 10_000n })),
  };
}

function endsOf(status: Sketch['status']): readonly ('completed' | 'failed')[] {
  if (status === 'COMPLETED') return ['completed'];
  return status === 'FAILED' ? ['failed'] : [];
}

function accepted({ merchantId, api, merchantReference, reference, content }: Payment): Call {
  return {
    startedAtMs: START_MS - 5,
    endedAtMs: START_MS + 5,
    merchantId,
    api,
    operation: 'submit',
    reference: merchantReference,
    content,
    items: [],
    outcome: 'accepted',
    ours: reference,
  };
}

function entryKinds(api: Payment['api'], status: Sketch['status']): readonly string[] {
  const isPaid = status === 'COMPLETED' || status === 'REVERSED';
  if (api === 'collection') return isPaid ? ['collect', 'fee'] : [];
  if (isPaid) return ['hold', 'capture', 'fee', ...(status === 'REVERSED' ? ['refund'] : [])];
  return status === 'FAILED' ? ['hold', 'release'] : ['hold'];
}

function movesOf({ api, reference, status, flow }: Payment): readonly RailMove[] {
  const operation = api === 'payout' ? 'payout' : 'payin';
  const move = (
    kind: RailMove['kind'],
    outcome: string,
    atMs: number,
    did: RailMove['operation'] = operation,
  ) => ({
    atMs: START_MS + atMs,
    kind,
    operation: did,
    reference,
    amount: 10_000n,
    currency: 'KES',
    outcome,
  });
  const moves = [move('request', 'accepted', 20)];
  if (flow === 'otp') moves.push(move('request', 'accepted', 30, 'complete'));
  if (status === 'FAILED') moves.push(move('execution', 'FAILED', 40));
  if (status === 'COMPLETED' || status === 'REVERSED') moves.push(move('execution', 'COMPLETED', 40));
  if (status === 'REVERSED') moves.push(move('reversal', 'REVERSED', 50));
  return moves;
}

function bodyOf(payment: Payment, end: string): string {
  const { amount, fee, currency, reference, merchantReference } = payment;
  const money = (minor: bigint) => JSON.rawJSON(formatAmount(minor, currency));
  if (payment.api === 'payout') {
    const data = {
      transactionStatus: end.toUpperCase(),
      merchantReference,
      transactionReference: reference,
      amount: money(amount),
      feeAmount: money(fee),
      valueAmount: money(amount + fee),
      statusReason: 'Successful',
    };
    return JSON.stringify({ data });
  }
  const isPaid = end === 'completed';
  return JSON.stringify({
    transaction_reference: reference,
    transaction_status: isPaid ? 'Funds Received' : 'Transaction Failed',
    transaction_fee: money(isPaid ? fee : 0n),
    amount_received: money(isPaid ? amount : 0n),
    initiated_date: '2026-07-20 00:00:00',
    current_status_date: '2026-07-20 00:00:12',
    received_from: {},
    merchant_reference: merchantReference,
    status: end.toUpperCase(),
    channel: 'MOBILE_MONEY',
    currency_code: currency,
    ...(!isPaid && { failure_reason: 'FAILED' }),
  });
}

const sketches: Readonly<Record<string, Sketch>> = {
  'po-paid': { flow: 'payout', status: 'COMPLETED' },
  'po-failed': { flow: 'payout', status: 'FAILED' },
  'po-reversed': { flow: 'payout', status: 'REVERSED' },
  'po-open': { flow: 'payout', status: 'INITIALIZED' },
  'po-item': { flow: 'payout', status: 'COMPLETED', batchReference: 'ba-1' },
  'co-paid': { flow: 'otp', status: 'COMPLETED' },
  'co-failed': { flow: 'stk', status: 'FAILED' },
  'co-open': { flow: 'link', status: 'PENDING' },
};

/** A small consistent world: one payment of each outcome, a batch, a refusal and a contradicted callback. */
export function createWorld(): World {
  const traces = Object.entries(sketches).map(([reference, sketch]) => tracesOf(reference, sketch));
  const all = <Key extends keyof Traces>(key: Key) =>
    traces.flatMap((one) => one[key] as Traces[Key][number][]);
  const refused: Call = {
    ...accepted(only(traces[0]?.payments)),
    reference: 'm-refused',
    outcome: 'refused',
    ours: null,
  };
  const item = only(all('payments').filter(({ batchReference }) => batchReference !== null));
  const batch: Call = {
    ...refused,
    operation: 'batch',
    reference: 'm-batch',
    content: item.content,
    items: [{ reference: item.merchantReference, content: item.content }],
    outcome: 'accepted',
  };
  const denied = {
    id: 'po-paid/status',
    kind: 'callback.denied',
    reference: 'po-paid',
    isOpen: true,
  };
  return {
    calls: [...all('calls'), refused, batch],
    payments: all('payments'),
    batches: [{ merchantId: 'demo', merchantReference: 'm-batch', reference: 'ba-1' }],
    events: all('events'),
    entries: all('entries'),
    ledgerEvents: all('ledgerEvents'),
    refusals: [],
    moves: all('moves'),
    callbacks: [...all('callbacks'), { reference: 'po-paid', status: 'FAILED', amount: 10_000n }],
    breaks: [...all('breaks'), denied],
    reconcilerEvents: [
      { id: 'ev-1', type: 'opened', subject: denied.id, version: 1n },
      { id: 'ev-2', type: 'finalised', subject: 'po-paid', version: 0n },
    ],
    deliveries: all('deliveries'),
    received: all('received'),
    // Three payouts of 100.00 and 0.50 left, one came back, and a collection of 100.00 less 1.00 came in.
    purses: [{ currency: 'KES', before: 100_000n, after: 89_750n, float: 89_750n, suspense: 0n }],
    books: [],
  };
}

/** The one item of a list. */
export function only<Item>(items: readonly Item[] | undefined): Item {
  const [item] = items ?? [];
  if (item === undefined || items?.length !== 1)
    throw new Error(`${items?.length ?? 0} items instead of one`);
  return item;
}

import type { Violation as BookViolation } from '@pesewa/audit';

/** Which of the two APIs a payment came by. */
export type Api = 'payout' | 'collection';

/**
 * The outcome of a request.
 *
 * `accepted`: `09`. `ended`: recorded, and failed already. `refused`: nothing is stored. `conflict`: its reference was
 * used, with other content or by an earlier collection. `shown` and `unknown`: a status, or that there is none.
 * `ambiguous`: a timeout, a reset or a 5xx. `strange`: an answer that no client can read.
 */
export type Outcome =
  | 'accepted'
  | 'ended'
  | 'refused'
  | 'conflict'
  | 'shown'
  | 'unknown'
  | 'ambiguous'
  | 'strange';

/** One request of a merchant. */
export interface Call {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly merchantId: string;
  readonly api: Api;
  readonly operation: 'submit' | 'batch' | 'lookUp' | 'complete';
  /** The merchant's reference; for a batch the batch's. */
  readonly reference: string;
  /** The content that makes a repetition the same payment: amount, currency, number. For a batch, that of its items. */
  readonly content: string;
  /** The merchant's references of a batch's items, with their contents. */
  readonly items: readonly { readonly reference: string; readonly content: string }[];
  readonly outcome: Outcome;
  /** Our reference, if the answer has it. */
  readonly ours: string | null;
  /** Why there is no readable answer, for people to read. */
  readonly failure?: string;
}

/** How a customer takes part; `payout` means not at all. */
export type Flow = 'payout' | 'link' | 'stk' | 'stkThenComplete' | 'otp';

/** A payment as its gateway stores it; amounts are minor units. */
export interface Payment {
  readonly api: Api;
  readonly merchantId: string;
  readonly merchantReference: string;
  readonly reference: string;
  readonly content: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly fee: bigint;
  readonly status: string;
  readonly version: bigint;
  readonly attempts: number;
  readonly completionAttempts: number;
  readonly acceptedAtMs: number;
  readonly attemptedAtMs: number | null;
  /** Our reference of the batch; null for a single one. */
  readonly batchReference: string | null;
  readonly flow: Flow;
  /** Zero until it is known, and for payouts. */
  readonly amountReceived: bigint;
}

/** What a batch has reserved among the payouts: its own reference. */
export interface Batch {
  readonly merchantId: string;
  readonly merchantReference: string;
  readonly reference: string;
}

/** A gateway's event about a payment, each event once. */
export interface PaymentEvent {
  readonly id: string;
  readonly type:
    | 'opened'
    | 'submitted'
    | 'completionRequested'
    | 'completionClosed'
    | 'completed'
    | 'failed'
    | 'reversed';
  readonly reference: string;
  readonly merchantId: string;
  readonly merchantReference: string;
  readonly version: bigint;
  readonly atMs: number;
}

/** What the simulator really did. */
export interface RailMove {
  readonly atMs: number;
  readonly kind: 'request' | 'execution' | 'callback' | 'reversal';
  readonly operation: 'payout' | 'payin' | 'complete' | 'lookup' | 'check';
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly outcome: string;
}

/** A callback as webhook-ingress stored it. */
export interface Callback {
  readonly reference: string;
  readonly status: string;
  readonly amount: bigint | null;
}

/** A break as the reconciler stores it. */
export interface Break {
  readonly id: string;
  readonly kind: string;
  readonly reference: string;
  readonly isOpen: boolean;
}

/** The reconciler's events, each once, in the order of its topic. */
export interface ReconcilerEvent {
  readonly id: string;
  readonly type: 'opened' | 'resolved' | 'finalised';
  /** The break, or the payment that was finalised. */
  readonly subject: string;
  /** What the break was found as then. */
  readonly kind?: string;
  /** The break's version: by it a consumer knows which of two is newer. */
  readonly version: bigint;
}

/** A webhook that a merchant is owed. */
export interface Delivery {
  readonly id: string;
  readonly merchantId: string;
  readonly reference: string;
  readonly kind: string;
  readonly body: string;
  readonly state: string;
}

/** A webhook as it reached a merchant. */
export interface Received {
  readonly merchantId: string;
  readonly path: string;
  readonly webhookId: string;
  readonly body: string;
  /** Our reference in the body. */
  readonly reference: string;
}

/** An entry of the ledger. */
export interface Entry {
  readonly reference: string;
  readonly kind: string;
}

/** An event of the ledger about a payment's entry. */
export interface LedgerEvent {
  readonly reference: string;
  /** The kind of the entry that it reports. */
  readonly kind: string;
}

/** One currency at the rail and in our books, in minor units. */
export interface Purse {
  readonly currency: string;
  /** The rail's wallet before and after all this. */
  readonly before: bigint;
  readonly after: bigint;
  readonly float: bigint;
  readonly suspense: bigint;
}

/** Everything known after a run, from all sources. */
export interface World {
  readonly calls: readonly Call[];
  readonly payments: readonly Payment[];
  readonly batches: readonly Batch[];
  readonly events: readonly PaymentEvent[];
  readonly entries: readonly Entry[];
  readonly ledgerEvents: readonly LedgerEvent[];
  /** Our references of payouts whose hold the ledger refused. */
  readonly refusals: readonly string[];
  readonly moves: readonly RailMove[];
  readonly callbacks: readonly Callback[];
  readonly breaks: readonly Break[];
  readonly reconcilerEvents: readonly ReconcilerEvent[];
  readonly deliveries: readonly Delivery[];
  readonly received: readonly Received[];
  readonly purses: readonly Purse[];
  /** What the audit of the books found (packages/audit, L1 to L12). */
  readonly books: readonly BookViolation[];
}

/** Everything known about one payment, from all sources. */
export interface Evidence {
  readonly payment: Payment;
  /** Sorted by version. */
  readonly events: readonly PaymentEvent[];
  readonly moves: readonly RailMove[];
  readonly callbacks: readonly Callback[];
  readonly breaks: readonly Break[];
  readonly entryKinds: ReadonlySet<string>;
  /** The kinds of its entries that the ledger has published. */
  readonly publishedKinds: ReadonlySet<string>;
  readonly isRefused: boolean;
  readonly deliveries: readonly Delivery[];
  readonly received: readonly Received[];
}

/** The evidence of each payment. */
export function evidenceOf(world: World): readonly Evidence[] {
  const byReference = <Item extends { readonly reference: string }>(items: readonly Item[]) => {
    const groups = Map.groupBy(items, ({ reference }) => reference);
    return (reference: string): readonly Item[] => groups.get(reference) ?? [];
  };
  const events = byReference(world.events);
  const moves = byReference(world.moves);
  const callbacks = byReference(world.callbacks);
  const breaks = byReference(world.breaks);
  const entries = byReference(world.entries);
  const ledgerEvents = byReference(world.ledgerEvents);
  const deliveries = byReference(world.deliveries);
  const received = byReference(world.received);
  const refused = new Set(world.refusals);
  return world.payments.map((payment) => {
    const { reference } = payment;
    return {
      payment,
      events: events(reference).toSorted((a, b) => Number(a.version - b.version)),
      moves: moves(reference),
      callbacks: callbacks(reference),
      breaks: breaks(reference),
      entryKinds: new Set(entries(reference).map(({ kind }) => kind)),
      publishedKinds: new Set(ledgerEvents(reference).map(({ kind }) => kind)),
      isRefused: refused.has(reference),
      deliveries: deliveries(reference),
      received: received(reference),
    };
  });
}

/** How a payment ended, or that it has not. */
export function isEnded({ status }: Pick<Payment, 'status'>): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'REVERSED';
}

/** Each execution of the payment by the rail with this outcome. */
export function executionsOf({ moves }: Pick<Evidence, 'moves'>, outcome: 'COMPLETED' | 'FAILED'): number {
  return moves.filter((move) => move.kind === 'execution' && move.outcome === outcome).length;
}

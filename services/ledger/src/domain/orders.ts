import { accept, checkDecision, type ProposalRefusal, type Result, refuse } from '@pesewa/kernel';

/** What an operator may order from the ledger (ADR 17), in minor units; the direction says where the money goes. */
export type OperatorRequest = {
  /** A merchant or a rail. */
  readonly target: string;
  readonly currency: string;
  readonly amount: bigint;
} & (
  | {
      readonly kind: 'fund' | 'fundFloat' | 'withdraw' | 'withdrawFloat';
      readonly reason?: string;
    }
  | ({ readonly kind: 'adjust'; readonly direction: 'credit' | 'debit' } & Correction)
  | ({ readonly kind: 'suspense'; readonly direction: 'surplus' | 'shortage' } & Correction)
);

/** What every order against suspense has. */
interface Correction {
  readonly reason: string;
  /** The break of the reconciler that it corrects. */
  readonly breakId?: string;
}

/** The kind of an order. */
export type OrderKind = OperatorRequest['kind'];

/** An order as one operator proposed it, with another operator's decision. */
export type Order = OperatorRequest & {
  readonly commandId: string;
  readonly requestedBy: string;
  readonly at: Date;
} & (
    | { readonly status: 'proposed' }
    | { readonly status: 'approved'; readonly decidedBy: string; readonly decidedAt: Date }
    | {
        readonly status: 'rejected';
        readonly decidedBy: string;
        readonly decidedAt: Date;
        readonly decisionReason: string;
      }
  );

/** An operator's decision about a proposal. */
export type Verdict = { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string };

/** A verdict with its operator and its time. */
export interface Decision {
  readonly verdict: Verdict;
  readonly by: string;
  readonly at: Date;
}

/** Why a decision changes nothing: it is the maker's own approval, comes too late, or contradicts an earlier one. */
export type DecisionRefusal = `order.${ProposalRefusal}`;

/**
 * Decides about an order: an approval needs a second operator, a rejection may come from either (ADR 17).
 *
 * The same decision again gives the same order; a decided order can't be decided differently.
 */
export function decideOrder(order: Order, decision: Decision): Result<Order, DecisionRefusal> {
  const { verdict, by, at } = decision;
  const judged = checkDecision(order, { verdict: verdict.kind, by, at });
  if (!judged.ok) return refuse(`order.${judged.refusal}` as const);
  if (judged.value === 'repeated') return accept(order);
  if (verdict.kind === 'approve') {
    return accept({ ...order, status: 'approved', decidedBy: by, decidedAt: at });
  }
  const rejected = {
    status: 'rejected',
    decidedBy: by,
    decidedAt: at,
    decisionReason: verdict.reason,
  } as const;
  return accept({ ...order, ...rejected });
}

/** Whether two proposals under one id are the same: the same content from the same operator. */
export function isSameOrder(one: Order, other: Order): boolean {
  return (
    one.kind === other.kind &&
    one.target === other.target &&
    one.currency === other.currency &&
    one.amount === other.amount &&
    one.reason === other.reason &&
    breakIdOf(one) === breakIdOf(other) &&
    directionOf(one) === directionOf(other) &&
    one.requestedBy === other.requestedBy
  );
}

/** Whether an order is about a merchant's wallet; all others are about a rail. */
export function isWalletOrder(kind: OrderKind): boolean {
  return kind === 'fund' || kind === 'withdraw' || kind === 'adjust';
}

/** An event's content about an order that may be applied. */
export interface OrderClaim {
  readonly kind: OrderKind;
  readonly target: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly direction?: string | undefined;
  readonly breakId?: string | null;
  readonly requestedAt?: bigint;
  readonly requestedBy: string;
  readonly approvedBy: string | null;
}

/**
 * Why an event must not be applied; undefined if it is what two operators agreed on (ADR 17).
 *
 * The topic proves nothing, because anybody with the right to write to it could order anything. The reason names the
 * field that differs, never its values.
 */
export function whyUnapproved(claim: OrderClaim, order: Order | undefined): string | undefined {
  if (!order) return 'no such order was proposed';
  if (order.status !== 'approved') return `the order is ${order.status}, not approved`;
  if (order.decidedBy === order.requestedBy) return 'the order was approved by its maker';
  const { decidedBy: approvedBy } = order;
  const ordered: OrderClaim = { ...order, ...correctedBy(order), direction: directionOf(order), approvedBy };
  const differing = claimedFields.filter((field) => ordered[field] !== claim[field]);
  return differing.length > 0 ? `the approved order has another ${differing.join(', ')}` : undefined;
}

const claimedFields = [
  'kind',
  'target',
  'currency',
  'amount',
  'direction',
  'breakId',
  'requestedAt',
  'requestedBy',
  'approvedBy',
] as const satisfies readonly (keyof OrderClaim)[];

/** The direction of an adjustment or a suspense booking. */
export function directionOf(
  request: OperatorRequest,
): 'credit' | 'debit' | 'surplus' | 'shortage' | undefined {
  return 'direction' in request ? request.direction : undefined;
}

/** The break that an order corrects; null if none. */
export function breakIdOf(request: OperatorRequest): string | null {
  return ('breakId' in request ? request.breakId : null) ?? null;
}

/** What the event of an order against suspense says of its break: which it is, and since when what it corrects was known. */
export function correctedBy(order: Order): {
  readonly breakId?: string | null;
  readonly requestedAt?: bigint;
} {
  return 'direction' in order ? { breakId: breakIdOf(order), requestedAt: BigInt(order.at.getTime()) } : {};
}

import type { TopicEvent } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import {
  type FloatOrder,
  type Instruction,
  orderKindOf,
  type PostingEvent,
  type WalletOrder,
} from './instructions.ts';
import type { OrderKind } from './orders.ts';
import { causeOf } from './outcomes.ts';

/** An event that the ledger published, as it is in its topic. */
export type OwnEvent = TopicEvent<'ledger'> & {
  /** The wallet's sequence after the event. */
  readonly version: bigint;
  readonly causationId: string;
};

/** The instruction that an event answered. */
export interface AnsweredInstruction {
  readonly event: OwnEvent;
  readonly instruction: Instruction;
}

/** The content of an own event. */
export type ParsedEvent =
  /** Something was booked. */
  | ({ readonly kind: 'posting' } & AnsweredInstruction)
  /** Something was refused for good. */
  | ({ readonly kind: 'refusal'; readonly atMs: number } & AnsweredInstruction)
  | { readonly kind: 'page'; readonly page: PublishedPage }
  | { readonly kind: 'order'; readonly event: OwnEvent; readonly decided: DecidedOrder };

/** An order as it was published. */
export type DecidedOrder = Extract<
  TopicEvent<'ledger'>,
  { readonly type: 'pesewa.ledger.OrderDecided' }
>['payload'];

/** A page as it was published. */
export interface PublishedPage {
  readonly chain: string;
  readonly number: bigint;
  /** The hash in hex. */
  readonly hash: string;
  readonly atMs: number;
  readonly postings: readonly string[];
}

/** The topic that an instruction comes from. */
export function topicOf(kind: Instruction['kind']): 'payouts' | 'collections' | 'ledgerCommands' {
  if (kind === 'hold' || kind === 'capture' || kind === 'release' || kind === 'refund') return 'payouts';
  return kind === 'collect' ? 'collections' : 'ledgerCommands';
}

const orderKinds: ReadonlySet<string> = new Set<Instruction['kind']>(['fund', 'withdraw', 'adjust']);

/**
 * Whether an event has everything that its instruction needs. A field that an older schema lacked is read as an empty
 * text, which our own events never contain.
 */
export function hasAllFields({ type, payload, causationId }: OwnEvent): boolean {
  if (Object.values(payload).some((value) => value === '')) return false;
  if (type === 'pesewa.ledger.OrderDecided') return isOrder(payload);
  if (type === 'pesewa.ledger.CommandRefused' && !orderKinds.has(payload.order)) return false;
  return causationId !== '';
}

const directions: Readonly<Record<string, readonly (string | null)[]>> = {
  fund: [null],
  fundFloat: [null],
  withdraw: [null],
  withdrawFloat: [null],
  adjust: ['credit', 'debit'],
  suspense: ['surplus', 'shortage'],
} satisfies Readonly<Record<OrderKind, readonly (string | null)[]>>;

const isOrder = ({ kind, direction, status }: DecidedOrder): boolean =>
  directions[kind]?.includes(direction) === true && (status === 'approved' || status === 'rejected');

/** Reads an own event. For a release and a refund it has only a sum; the hold has the parts: see `rebookPostings`. */
export function readOwnEvent(event: OwnEvent): ParsedEvent {
  const atMs = Number(event.payload.occurredAt);
  if (event.type === 'pesewa.ledger.PageWritten') {
    const { chain, number, hash, postings } = event.payload;
    return { kind: 'page', page: { chain, number, hash, atMs, postings } };
  }
  if (event.type === 'pesewa.ledger.OrderDecided') return { kind: 'order', event, decided: event.payload };
  const instruction = toInstruction(event, event.causationId);
  const isRefusal =
    event.type === 'pesewa.ledger.HoldRefused' || event.type === 'pesewa.ledger.CommandRefused';
  return isRefusal ? { kind: 'refusal', atMs, event, instruction } : { kind: 'posting', event, instruction };
}

type PaymentEvent = Extract<PostingEvent, { readonly payload: { readonly reference: string } }>;
type OrderEvent = Exclude<PostingEvent, PaymentEvent>;

function toInstruction(event: PostingEvent, causationId: string): Instruction {
  return isOfPayment(event) ? ofPayment(event, causationId) : ofOrder(event, causationId);
}

const isOfPayment = (event: PostingEvent): event is PaymentEvent => 'reference' in event.payload;

function ofPayment(event: PaymentEvent, causationId: string): Instruction {
  const payment = causeOf({ ...event.payload, causationId });
  switch (event.type) {
    case 'pesewa.ledger.HoldPlaced':
    case 'pesewa.ledger.HoldRefused': {
      const { held, fee, rail } = event.payload;
      return { kind: 'hold', ...payment, amount: held - fee, fee, rail };
    }
    case 'pesewa.ledger.HoldCaptured': {
      const { amount, fee, rail, railCost: railFee } = event.payload;
      return { kind: 'capture', ...payment, amount, fee, rail, railFee };
    }
    case 'pesewa.ledger.HoldReleased':
      return { kind: 'release', ...payment, amount: event.payload.held, fee: 0n };
    case 'pesewa.ledger.PayoutRefunded': {
      const { amount, fee } = event.payload;
      return { kind: 'refund', ...payment, amount, fee };
    }
    case 'pesewa.ledger.CollectionCredited': {
      const { amountReceived: received, fee, rail, railCost: railFee } = event.payload;
      return { kind: 'collect', ...payment, received, fee, rail, railFee };
    }
    default:
      return unreachable(event);
  }
}

function ofOrder({ type, payload }: OrderEvent, causationId: string): Instruction {
  if (type === 'pesewa.ledger.CommandRefused') {
    const { owner: merchantId, order, commandId: reference, currency, amount } = payload;
    const ordered = { causationId, reference, currency, amount, merchantId };
    // The direction of a refused order and its break do not matter to anybody.
    if (order === 'adjust')
      return { kind: order, ...ordered, direction: 'debit', breakId: null, requestedAt: 0n };
    return { kind: order === 'fund' ? 'fund' : 'withdraw', ...ordered };
  }
  const { eventId: _id, occurredAt: _at, commandId: reference, ...order } = payload;
  return { ...order, kind: orderKindOf(type), causationId, reference } as WalletOrder | FloatOrder;
}

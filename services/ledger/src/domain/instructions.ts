import type { TopicEvent } from '@pesewa/contracts';

/** A payment of a wallet, and the event that reports it. */
export interface Payment {
  /** The id of the event that asks for this. */
  readonly causationId: string;
  /** The payment's reference, made by us. */
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
}

interface Payout extends Payment {
  /** Minor units, as all amounts here. */
  readonly amount: bigint;
  readonly fee: bigint;
}

/** The fields of every operator's order except its target. */
interface Ordered {
  readonly causationId: string;
  /** The command's own id. */
  readonly reference: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** The break that an order corrects, and when the order was proposed: its entry resolves the break. */
interface Corrected {
  readonly breakId: string | null;
  /** Milliseconds since the epoch. */
  readonly requestedAt: bigint;
}

/** An operator's order about a merchant's wallet; its kind is the kind of its entry. */
export type WalletOrder = Ordered & { readonly merchantId: string } & (
    | { readonly kind: 'fund' | 'withdraw' }
    | ({ readonly kind: 'adjust'; readonly direction: 'credit' | 'debit' } & Corrected)
  );

/** An operator's order about our float at a rail; its kind is the kind of its entry. */
export type FloatOrder = Ordered & { readonly rail: string } & (
    | { readonly kind: 'fundFloat' | 'withdrawFloat' }
    | ({ readonly kind: 'suspense'; readonly direction: 'surplus' | 'shortage' } & Corrected)
  );

/** What an event asks of the ledger. */
export type Instruction =
  | (Payout & { readonly kind: 'hold'; readonly rail: string })
  | (Payout & { readonly kind: 'capture'; readonly rail: string; readonly railFee: bigint })
  | (Payout & { readonly kind: 'release' })
  | (Payout & { readonly kind: 'refund' })
  | (Payment & {
      readonly kind: 'collect';
      readonly received: bigint;
      readonly fee: bigint;
      readonly rail: string;
      readonly railFee: bigint;
    })
  | WalletOrder
  | FloatOrder;

/** The instructions of some kinds. */
export type InstructionOf<Kind extends Instruction['kind']> = Extract<Instruction, { readonly kind: Kind }>;

/** The name of what an instruction books: each exists once. */
export function postingId({ reference, kind }: Pick<Instruction, 'reference' | 'kind'>): string {
  return `${reference}/${kind}`;
}

/** An event about something that was booked or refused, as the ledger publishes it. */
export type PostingEvent = Exclude<
  TopicEvent<'ledger'>,
  { readonly type: 'pesewa.ledger.PageWritten' | 'pesewa.ledger.OrderDecided' }
>;

type DomainEventOf<Event> = Event extends {
  readonly type: `pesewa.ledger.${infer Name}`;
  readonly payload: infer Payload;
}
  ? Omit<Payload, 'eventId' | 'occurredAt'> & {
      /** The name of its event, with a small letter. */
      readonly kind: Uncapitalize<Name>;
      readonly causationId: string;
      /** The wallet's sequence afterwards; 0 if no wallet is concerned. */
      readonly sequence: bigint;
    }
  : never;

/** What the ledger did: its event without what says when, and with what says why. */
export type LedgerDomainEvent = DomainEventOf<PostingEvent>;

/** The type of the event that a domain event is published as. */
export function eventTypeOf({ kind }: Pick<LedgerDomainEvent, 'kind'>): PostingEvent['type'] {
  return `pesewa.ledger.${kind.charAt(0).toUpperCase()}${kind.slice(1)}` as PostingEvent['type'];
}

type OrderKind = (WalletOrder | FloatOrder)['kind'];

/** For each kind of order the command that asks for it, and the domain event that reports it as applied. */
const orderEvents = {
  fund: { command: 'FundWallet', applied: 'walletFunded' },
  fundFloat: { command: 'FundFloat', applied: 'floatFunded' },
  withdraw: { command: 'WithdrawWallet', applied: 'walletWithdrawn' },
  withdrawFloat: { command: 'WithdrawFloat', applied: 'floatWithdrawn' },
  adjust: { command: 'AdjustWallet', applied: 'walletAdjusted' },
  suspense: { command: 'BookSuspense', applied: 'suspenseBooked' },
} as const satisfies Record<OrderKind, { command: string; applied: LedgerDomainEvent['kind'] }>;

/** The type of the command that asks for an order. */
export function commandTypeOf(kind: OrderKind): TopicEvent<'ledgerCommands'>['type'] {
  return `pesewa.ledger.${orderEvents[kind].command}`;
}

/** The kind of the domain event that reports an applied order. */
export function appliedKindOf(kind: OrderKind): LedgerDomainEvent['kind'] {
  return orderEvents[kind].applied;
}

/** The kind of the order that an event is about: a command, or the report that it was applied. */
export function orderKindOf(type: (TopicEvent<'ledgerCommands'> | PostingEvent)['type']): OrderKind {
  const kinds = Object.keys(orderEvents) as OrderKind[];
  const found = kinds.find(
    (kind) => type === commandTypeOf(kind) || type === eventTypeOf({ kind: appliedKindOf(kind) }),
  );
  if (!found) throw new TypeError(`${type} is about no order`);
  return found;
}

import type { TopicEvent } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import { handleTopic, type Received, type TopicHandler } from '@pesewa/messaging';
import type { Approvals, NamedOrder } from './approvals.ts';
import type { FloatOrder, Instruction, WalletOrder } from './domain/instructions.ts';
import type { Postings } from './postings.ts';

/** What the ledger makes of the topics it consumes: each event is one instruction, each chunk one fold. */
export function createHandlers(deps: {
  readonly postings: Postings;
  readonly approvals: Approvals;
}): readonly TopicHandler[] {
  const { postings, approvals } = deps;
  const payouts = handleTopic(
    'payouts',
    [
      'pesewa.payouts.PayoutAccepted',
      'pesewa.payouts.PayoutCompleted',
      'pesewa.payouts.PayoutFailed',
      'pesewa.payouts.PayoutReversed',
    ],
    async (events, transaction) => {
      const instructions = events.map(({ type, payload, eventId }): Instruction => {
        const { reference, merchantId, currency, amount, fee } = payload;
        const payout = { causationId: eventId, reference, merchantId, currency, amount, fee };
        switch (type) {
          case 'pesewa.payouts.PayoutAccepted':
            return { ...payout, kind: 'hold', rail: payload.rail };
          case 'pesewa.payouts.PayoutCompleted':
            return { ...payout, kind: 'capture', rail: payload.rail, railFee: payload.railFee };
          case 'pesewa.payouts.PayoutFailed':
            return { ...payout, kind: 'release' };
          case 'pesewa.payouts.PayoutReversed':
            return { ...payout, kind: 'refund' };
          default:
            return unreachable(type);
        }
      });
      await postings.post(instructions, 'payouts', transaction);
    },
  );
  const collections = handleTopic(
    'collections',
    ['pesewa.collections.CollectionCompleted'],
    async (events, transaction) => {
      const instructions = events.map(({ payload, eventId }): Instruction => {
        const { reference, merchantId, currency, amountReceived, fee, rail, railFee } = payload;
        const payment = { causationId: eventId, reference, merchantId, currency };
        return { ...payment, kind: 'collect', received: amountReceived, fee, rail, railFee };
      });
      await postings.post(instructions, 'collections', transaction);
    },
  );
  const commands = handleTopic('ledgerCommands', orderTypes, async (events, transaction) => {
    const named = events.map(toNamedOrder);
    const reasons = await approvals.check(named, transaction.session);
    for (const [index, reason] of reasons) transaction.park(events[index]?.eventId ?? '', reason);
    const approved = named.flatMap(({ order }, index) => (reasons.has(index) ? [] : [order]));
    await postings.post(approved, 'ledgerCommands', transaction);
  });
  return [payouts, collections, commands];
}

const orderTypes = [
  'pesewa.ledger.FundWallet',
  'pesewa.ledger.FundFloat',
  'pesewa.ledger.WithdrawWallet',
  'pesewa.ledger.WithdrawFloat',
  'pesewa.ledger.AdjustWallet',
  'pesewa.ledger.BookSuspense',
] as const;

type OrderEvent = Extract<TopicEvent<'ledgerCommands'>, { readonly type: (typeof orderTypes)[number] }>;

function toNamedOrder(event: Received<OrderEvent>): NamedOrder {
  const { requestedBy, approvedBy } = event.payload;
  return { order: toOrder(event), requestedBy, approvedBy };
}

function toOrder({ eventId, ...event }: Received<OrderEvent>): WalletOrder | FloatOrder {
  const { currency, amount } = event.payload;
  // The command's own id: one that was sent twice is one.
  const ordered = { causationId: eventId, reference: event.payload.eventId, currency, amount };
  switch (event.type) {
    case 'pesewa.ledger.FundWallet':
      return { ...ordered, kind: 'fund', merchantId: event.payload.merchantId };
    case 'pesewa.ledger.WithdrawWallet':
      return { ...ordered, kind: 'withdraw', merchantId: event.payload.merchantId };
    case 'pesewa.ledger.FundFloat':
      return { ...ordered, kind: 'fundFloat', rail: event.payload.rail };
    case 'pesewa.ledger.WithdrawFloat':
      return { ...ordered, kind: 'withdrawFloat', rail: event.payload.rail };
    case 'pesewa.ledger.AdjustWallet': {
      const { merchantId, direction } = event.payload;
      return { ...ordered, kind: 'adjust', merchantId, direction };
    }
    case 'pesewa.ledger.BookSuspense': {
      const { rail, direction } = event.payload;
      return { ...ordered, kind: 'suspense', rail, direction };
    }
    default:
      return unreachable(event);
  }
}

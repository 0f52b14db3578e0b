import { unreachable } from '@pesewa/kernel';
import { type EventHandling, type HandledEvent, handleTopic, type TopicHandler } from '@pesewa/messaging';
import type { Approvals, NamedOrder } from './approvals.ts';
import { type FloatOrder, type Instruction, orderKindOf, type WalletOrder } from './domain/instructions.ts';
import type { Postings } from './postings.ts';

/** The ledger's handlers: each event is one instruction, and each batch one fold. */
export function createHandlers(deps: {
  readonly postings: Postings;
  readonly approvals: Approvals;
  /** Throws if the database lacks what the ledger has published in a partition. */
  readonly checkPublished: (partition: number) => Promise<void>;
}): readonly TopicHandler[] {
  const { postings, approvals, checkPublished } = deps;
  const payouts = handleTopic(
    'payouts',
    {
      'pesewa.payouts.PayoutAccepted': 'handled',
      'pesewa.payouts.PayoutCompleted': 'handled',
      'pesewa.payouts.PayoutFailed': 'handled',
      'pesewa.payouts.PayoutReversed': 'handled',
      // The hold stays while the rail is asked.
      'pesewa.payouts.PayoutSubmitted': 'ignored',
    },
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
    {
      'pesewa.collections.CollectionCompleted': 'handled',
      // Money moves only when a customer has paid.
      'pesewa.collections.CollectionInitiated': 'ignored',
      'pesewa.collections.CollectionCompletionRequested': 'ignored',
      'pesewa.collections.CollectionCompletionClosed': 'ignored',
      'pesewa.collections.CollectionFailed': 'ignored',
    },
    async (events, transaction) => {
      const instructions = events.map(({ payload, eventId }): Instruction => {
        const { reference, merchantId, currency, amountReceived, fee, rail, railFee } = payload;
        const payment = { causationId: eventId, reference, merchantId, currency };
        return { ...payment, kind: 'collect', received: amountReceived, fee, rail, railFee };
      });
      await postings.post(instructions, 'collections', transaction);
    },
  );
  const commands = handleTopic('ledgerCommands', ORDERS, async (events, transaction) => {
    const named = events.map(toNamedOrder);
    const reasons = await approvals(named, transaction.session);
    for (const [index, reason] of reasons) transaction.park(index, reason);
    const approved = [...named.keys()].filter((index) => !reasons.has(index));
    await postings.post(
      approved.flatMap((index) => named[index]?.order ?? []),
      'ledgerCommands',
      { ...transaction, park: (nth, reason) => transaction.park(approved[nth] ?? -1, reason) },
    );
  });
  // A partition has the same wallets in each topic, so nothing of it may be applied to an older database.
  return [payouts, collections, commands].map((handler) => ({ ...handler, beforePartition: checkPublished }));
}

const ORDERS = {
  'pesewa.ledger.FundWallet': 'handled',
  'pesewa.ledger.FundFloat': 'handled',
  'pesewa.ledger.WithdrawWallet': 'handled',
  'pesewa.ledger.WithdrawFloat': 'handled',
  'pesewa.ledger.AdjustWallet': 'handled',
  'pesewa.ledger.BookSuspense': 'handled',
} as const satisfies EventHandling<'ledgerCommands'>;

type OrderEvent = HandledEvent<'ledgerCommands', typeof ORDERS>;

function toNamedOrder({ type, eventId: causationId, payload }: OrderEvent): NamedOrder {
  // The command's own id, so that a command that was sent twice is applied once.
  const { eventId: reference, occurredAt: _at, requestedBy, approvedBy, ...ordered } = payload;
  const order = { ...ordered, kind: orderKindOf(type), causationId, reference };
  return { order: order as WalletOrder | FloatOrder, requestedBy, approvedBy };
}

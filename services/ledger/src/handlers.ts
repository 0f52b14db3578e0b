import { unreachable } from '@pesewa/kernel';
import { handleTopic, type TopicHandler } from '@pesewa/messaging';
import type { Instruction } from './domain/instructions.ts';
import type { Postings } from './postings.ts';

/** What the ledger makes of the topics it consumes: each event is one instruction, each chunk one fold. */
export function createHandlers(deps: { readonly postings: Postings }): readonly TopicHandler[] {
  const { postings } = deps;
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
  const commands = handleTopic(
    'ledgerCommands',
    ['pesewa.ledger.FundWallet', 'pesewa.ledger.FundFloat'],
    async (events, transaction) => {
      const instructions = events.map(({ type, payload, eventId }): Instruction => {
        // The command's own id: one that was sent twice is one.
        const funding = { causationId: eventId, reference: payload.eventId, amount: payload.amount };
        const { currency } = payload;
        return type === 'pesewa.ledger.FundWallet'
          ? { ...funding, currency, kind: 'fund', merchantId: payload.merchantId }
          : { ...funding, currency, kind: 'fundFloat', rail: payload.rail };
      });
      await postings.post(instructions, 'ledgerCommands', transaction);
    },
  );
  return [payouts, collections, commands];
}

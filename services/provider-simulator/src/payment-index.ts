import type { PaymentKind } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import { absentPayment, evolve, type Payment, type PaymentEvent, walletMove } from './domain/payment.ts';
import type { JournalEffect } from './journal.ts';
import type { Wallets } from './wallets.ts';

/** A payment that was accepted. */
export type KnownPayment = Exclude<Payment, { status: 'ABSENT' }>;

/** The payments in memory, by reference; built from events, and rebuilt from those in the journal. */
export type PaymentIndex = ReturnType<typeof createPaymentIndex>;

/** Builds an empty index whose events change the wallets. */
export function createPaymentIndex(wallets: Wallets) {
  const byReference = { payout: new Map<string, Payment>(), collection: new Map<string, Payment>() };
  const byOwnReference = new Map<string, string>();
  const batches = new Set<string>();
  const get = (kind: PaymentKind, reference: string): Payment =>
    byReference[kind].get(reference) ?? absentPayment;
  const apply = (kind: PaymentKind, reference: string, event: PaymentEvent) => {
    const payment = evolve(get(kind, reference), event);
    byReference[kind].set(reference, payment);
    if (payment.status === 'ABSENT') return;
    if (event.type === 'accepted') {
      byOwnReference.set(event.terms.ownReference, reference);
      if (event.terms.batchReference !== undefined) batches.add(event.terms.batchReference);
    }
    const moved = walletMove(payment.terms, event);
    if (moved !== 0n) wallets.move(payment.terms.amount.currency, moved);
  };
  /** Finds a payment by the client's reference, else by the simulator's own. */
  const find = (kind: PaymentKind, reference: string): KnownPayment | undefined => {
    const payment = byReference[kind].get(reference);
    if (payment && payment.status !== 'ABSENT') return payment;
    const referenceGiven = byOwnReference.get(reference);
    if (referenceGiven === undefined) return undefined;
    const own = get(kind, referenceGiven);
    return own.status === 'ABSENT' ? undefined : own;
  };
  /** Applies an effect from the journal. */
  const restore = (effect: JournalEffect) => {
    switch (effect.type) {
      case 'payment':
        return apply(effect.kind, effect.reference, effect.event);
      case 'wallet':
        return wallets.set(effect.currency, effect.minor);
      default:
        return unreachable(effect);
    }
  };
  const all = function* (): Generator<[PaymentKind, string, Payment]> {
    for (const [reference, payment] of byReference.payout) yield ['payout', reference, payment];
    for (const [reference, payment] of byReference.collection) yield ['collection', reference, payment];
  };
  return { get, find, isBatch: (reference: string) => batches.has(reference), apply, restore, all };
}

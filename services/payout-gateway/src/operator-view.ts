import type { PayoutView } from '@pesewa/contracts';
import { viewPayment } from '@pesewa/payments';
import type { Payout } from './store.ts';
import type { WhyWaiting } from './why-waiting.ts';

/** A payout's state and timeline, with why it ended or, if that is asked for, why it waits; without names, accounts or numbers of people. */
export function viewPayout(payout: Payout, whyWaiting?: WhyWaiting): PayoutView {
  return {
    kind: 'payout',
    ...viewPayment(payout, payout.statusReason ?? whyWaiting?.(payout) ?? null, namesIn(payout.order)),
    batchReference: payout.batchReference,
    amountReceived: null,
  };
}

/** The names that must not be shown; an order that was rebuilt from events has none. */
function namesIn({ beneficiary, sender }: Payout['order']) {
  if (sender === null) return [];
  const { accountName, accountNumber, phoneNumber, identificationNumber, nationalIdNumber } = beneficiary;
  const numbers = [accountNumber, phoneNumber, identificationNumber, nationalIdNumber, sender.phoneNumber];
  return [accountName, sender.name, sender.email, beneficiary.narration, ...numbers];
}

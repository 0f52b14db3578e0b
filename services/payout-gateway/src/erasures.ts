import type { Erasure } from '@pesewa/messaging';
import { lastStep } from '@pesewa/payments';
import type { PayoutDocument } from './store.ts';

/** The order of a payout that was rebuilt from events (ADR 45): it has no personal data and is never sent. */
const ANONYMISED_ORDER = {
  merchantReference: '$order.merchantReference',
  country: '$order.country',
  channel: '$order.channel',
  beneficiary: { bankCode: '$order.beneficiary.bankCode' },
  sender: null,
};

/** The reason of an ended payout after the rail's own words, which may name people, are erased. */
const REASON = {
  $cond: [
    { $eq: ['$status', 'COMPLETED'] },
    'Successful',
    { $cond: [{ $eq: ['$status', 'REVERSED'] }, 'Reversed', 'Failed'] },
  ],
};

/**
 * Erases the beneficiaries and senders of ended payouts. Bank, amounts, references, end and the hash of the content stay,
 * because they identify a repeated request and because audits compare them (ADR 50).
 */
export const personalData: Erasure<PayoutDocument> = {
  collection: 'payouts',
  by: 'reference',
  prefix: 'po',
  open: { step: { $ne: 'ended' } },
  notErased: { 'order.sender': { $ne: null } },
  erase: [
    {
      $set: {
        // A new object alone would be merged into the existing one.
        order: { $mergeObjects: [ANONYMISED_ORDER] },
        statusReason: REASON,
        timeline: lastStep,
      },
    },
    // In the rail's own words.
    { $unset: 'completion' },
  ],
};

import type { Erasure } from '@pesewa/messaging';
import { lastStep } from '@pesewa/payments';
import { type PayoutDocument, plainReasons } from './store.ts';

/** The order as one that was rebuilt from events has it (ADR 45): it has no personal data and is never sent. */
const ANONYMISED_ORDER = {
  merchantReference: '$order.merchantReference',
  country: '$order.country',
  channel: '$order.channel',
  beneficiary: { bankCode: '$order.beneficiary.bankCode' },
  sender: null,
};

const { COMPLETED, FAILED, REVERSED } = plainReasons;
const REASON = {
  $cond: [
    { $eq: ['$status', 'COMPLETED'] },
    COMPLETED,
    { $cond: [{ $eq: ['$status', 'REVERSED'] }, REVERSED, FAILED] },
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
  // One that was rebuilt names no person in its order, but its rail's words may.
  notErased: { erased: { $exists: false } },
  erase: [
    {
      $set: {
        // A new object alone would be merged into the existing one.
        order: { $mergeObjects: [ANONYMISED_ORDER] },
        statusReason: REASON,
        erased: true,
        timeline: lastStep,
      },
    },
    // In the rail's own words.
    { $unset: 'completion' },
  ],
};

import type { Erasure, Erasures } from '@pesewa/messaging';
import { archiveOf, lastStep, type paymentKeepSettings } from '@pesewa/payments';
import type { z } from 'zod';
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
  name: 'payouts',
  collection: 'payouts',
  by: 'reference',
  prefix: 'po',
  open: () => ({ step: { $ne: 'ended' } }),
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

/** Erases everything but the references that batches have reserved, which stay taken. */
const reservations: Erasure<PayoutDocument> = {
  ...personalData,
  name: 'payouts/reservations',
  prefix: 'ba',
  open: () => ({ step: { $exists: true } }),
  notErased: {},
  erase: [{ $replaceWith: { _id: '$_id' } }],
};

/** The erasures of payouts, each with its number of days. */
export function erasuresOf(config: z.output<typeof paymentKeepSettings>): Erasures<PayoutDocument> {
  return [
    [personalData, config.PERSONAL_DATA_KEEP_DAYS],
    [archiveOf(personalData), config.PAYMENT_KEEP_DAYS],
    [reservations, config.PAYMENT_KEEP_DAYS],
  ];
}

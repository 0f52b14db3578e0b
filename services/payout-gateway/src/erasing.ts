import {
  archiveOf,
  type Erasure,
  type Erasures,
  lastStep,
  type paymentKeepSettings,
} from '@pesewa/messaging';
import type { z } from 'zod';
import type { PayoutDocument } from './store.ts';

/** An order as it is remembered from events (ADR 46): it names nobody, and is never sent. */
const REMEMBERED = {
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
 * Whom ended payouts paid, and who sent them. Where each was going, its money, its reference, when it ended and the hash of its
 * content stay: they are what makes a repetition one, and what audits compare (ADR 50).
 */
export const personalData: Erasure<PayoutDocument> = {
  name: 'payouts',
  collection: 'payouts',
  by: 'reference',
  prefix: 'po',
  open: () => ({ step: { $ne: 'ended' } }),
  whole: { 'order.sender': { $ne: null } },
  erase: [
    {
      $set: {
        // A new object alone would be merged into the existing one.
        order: { $mergeObjects: [REMEMBERED] },
        statusReason: REASON,
        timeline: lastStep,
      },
    },
  ],
};

/** The references that batches have reserved: they stay taken, and nothing else is kept. */
const reservations: Erasure<PayoutDocument> = {
  ...personalData,
  name: 'payouts/reservations',
  prefix: 'ba',
  open: () => ({ step: { $exists: true } }),
  whole: {},
  erase: [{ $replaceWith: { _id: '$_id' } }],
};

/** What payouts lose, and when. */
export function erasuresOf(config: z.output<typeof paymentKeepSettings>): Erasures<PayoutDocument> {
  return [
    [personalData, config.PERSONAL_DATA_KEEP_DAYS],
    [archiveOf(personalData), config.PAYMENT_KEEP_DAYS],
    [reservations, config.PAYMENT_KEEP_DAYS],
  ];
}

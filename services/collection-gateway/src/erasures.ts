import type { Erasure, Erasures } from '@pesewa/messaging';
import { archiveOf, lastStep, type paymentKeepSettings } from '@pesewa/payments';
import type { z } from 'zod';
import type { CollectionDocument } from './store.ts';

/**
 * Erases the customers of ended collections. Amounts, references and end stay, because they identify a repeated request
 * and because audits compare them (ADR 50).
 */
export const personalData: Erasure<CollectionDocument> = {
  name: 'collections',
  collection: 'collections',
  by: 'reference',
  prefix: 'co',
  open: () => ({ status: 'PENDING' }),
  notErased: { 'order.customerNumber': { $ne: '' } },
  erase: [
    { $set: { 'order.customerNumber': '', timeline: lastStep } },
    {
      $unset: [
        'order.customerName',
        'order.customerEmail',
        'order.description',
        'order.successUrl',
        'order.errorUrl',
        'order.cancelUrl',
        // The rail's own words may name people; without them the reason reads FAILED.
        'failureReason',
      ],
    },
  ],
};

/** The erasures of collections, each with its number of days. */
export function erasuresOf(config: z.output<typeof paymentKeepSettings>): Erasures<CollectionDocument> {
  return [
    [personalData, config.PERSONAL_DATA_KEEP_DAYS],
    [archiveOf(personalData), config.PAYMENT_KEEP_DAYS],
  ];
}

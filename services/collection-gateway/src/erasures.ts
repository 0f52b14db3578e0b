import type { Erasure } from '@pesewa/messaging';
import { lastStep } from '@pesewa/payments';
import type { CollectionDocument } from './store.ts';

/**
 * Erases the customers of ended collections. Amounts, references and end stay, because they identify a repeated request
 * and because audits compare them (ADR 50).
 */
export const personalData: Erasure<CollectionDocument> = {
  collection: 'collections',
  by: 'reference',
  prefix: 'co',
  open: { status: 'PENDING' },
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

import { type Messaging, startEraser } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { CollectionDocument } from './store.ts';

const DAY_MS = 86_400_000;

/**
 * Erases the customers of ended collections. Their money and references stay for ever: repetitions are recognised by
 * them, and audits compare them (ADR 50).
 */
export function startErasing(
  { clock, logger }: Pick<ServiceScope<unknown>, 'clock' | 'logger'>,
  { db, owner }: Pick<Messaging, 'db' | 'owner'>,
  keepDays: number,
): AsyncDisposable {
  return startEraser<CollectionDocument>(
    { db, owner, clock, logger },
    {
      collection: db.collection<CollectionDocument>('collections'),
      by: 'reference',
      prefix: 'co',
      keepMs: keepDays * DAY_MS,
      open: { status: 'PENDING' },
      whole: { 'order.customerNumber': { $ne: '' } },
      erase: [
        { $set: { 'order.customerNumber': '' } },
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
            'timeline',
          ],
        },
      ],
    },
  );
}

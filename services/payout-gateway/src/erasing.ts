import { type Messaging, startEraser } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { PayoutDocument } from './store.ts';

const DAY_MS = 86_400_000;

/** An order as far as events contain it (ADR 46): it names no person and is never sent. */
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
 * Erases the beneficiaries and senders of ended payouts. Destination, money, reference and the hash of the content stay
 * for ever: repetitions are recognised by them, and audits compare them (ADR 50).
 */
export function startErasing(
  { clock, logger }: Pick<ServiceScope<unknown>, 'clock' | 'logger'>,
  { db, owner }: Pick<Messaging, 'db' | 'owner'>,
  keepDays: number,
): AsyncDisposable {
  return startEraser<PayoutDocument>(
    { db, owner, clock, logger },
    {
      collection: db.collection<PayoutDocument>('payouts'),
      by: 'reference',
      prefix: 'po',
      keepMs: keepDays * DAY_MS,
      open: { step: { $ne: 'ended' } },
      whole: { 'order.sender': { $ne: null } },
      erase: [
        {
          $set: {
            // A new object alone would be merged into the existing one.
            order: { $mergeObjects: [REMEMBERED] },
            statusReason: REASON,
          },
        },
        { $unset: 'timeline' },
      ],
    },
  );
}

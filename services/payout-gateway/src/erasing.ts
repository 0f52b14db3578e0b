import { type Messaging, startEraser } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { PayoutDocument } from './store.ts';

const DAY_MS = 86_400_000;

/** An order as it is remembered from events (ADR 46): it names nobody, and is never sent. */
const REMEMBERED = {
  merchantReference: '$order.merchantReference',
  country: '$order.country',
  channel: '$order.channel',
  beneficiary: { bankCode: '$order.beneficiary.bankCode' },
  sender: null,
};

/** What an ended payout says of its end once the words of its rail, which may name people, are erased. */
const REASON = {
  $cond: [
    { $eq: ['$status', 'COMPLETED'] },
    'Successful',
    { $cond: [{ $eq: ['$status', 'REVERSED'] }, 'Reversed', 'Failed'] },
  ],
};

/**
 * Erases whom ended payouts paid, and who sent them. Where each was going, its money, its reference and the hash of its
 * content stay for ever: they are what makes a repetition one, and what audits compare (ADR 50).
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
            // An object of its own would be merged into the one that is there.
            order: { $mergeObjects: [REMEMBERED] },
            statusReason: REASON,
          },
        },
        { $unset: 'trail' },
      ],
    },
  );
}

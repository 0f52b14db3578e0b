import { type Messaging, startEraser } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import { Binary } from 'mongodb';
import type { CallbackDocument } from './callback-document.ts';

const DAY_MS = 86_400_000;

/** Erases the bodies and senders of callbacks; their claims and states are kept with their records. */
export function startErasing(
  { clock, logger }: Pick<ServiceScope<unknown>, 'clock' | 'logger'>,
  { db, owner }: Pick<Messaging, 'db' | 'owner'>,
  keepDays: number,
): AsyncDisposable {
  return startEraser<CallbackDocument>(
    { db, owner, clock, logger },
    {
      collection: db.collection<CallbackDocument>('callbacks'),
      by: 'id',
      prefix: 'cb',
      keepMs: keepDays * DAY_MS,
      open: { state: 'failed' },
      whole: { erased: { $exists: false } },
      erase: {
        $set: { body: new Binary(Buffer.alloc(0)), headers: [], claimedReason: null, erased: true },
        $unset: { peerAddress: true, clientAddress: true },
      },
    },
  );
}

import type { Erasure } from '@pesewa/messaging';
import { Binary } from 'mongodb';
import type { CallbackDocument } from './documents.ts';

/** The bodies and senders of callbacks; what they claimed and what became of them is kept as long as they are. */
export const bodiesAndSenders: Erasure<CallbackDocument> = {
  collection: 'callbacks',
  by: 'id',
  prefix: 'cb',
  open: { state: 'failed' },
  notErased: { erased: { $exists: false } },
  erase: {
    $set: { body: new Binary(Buffer.alloc(0)), headers: [], claimedReason: null, erased: true },
    $unset: { peerAddress: true, clientAddress: true },
  },
};

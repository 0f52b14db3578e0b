import { walletKeyOf } from '@pesewa/contracts';
import { eventually, ignoreAllEvents, type TestScope } from '@pesewa/testkit';
import { expect } from 'vitest';
import { idOf, type Messaging, type OutgoingEvent, openMessagingAs, outboxOf } from './index.ts';

/** Of the ledger's topic only fundings are handled. */
export const FUNDED = { ...ignoreAllEvents('ledger'), 'pesewa.ledger.WalletFunded': 'handled' } as const;

let count = 0;

/** A funding, a different one with each call. */
export function funded(merchantId: string, amount: bigint): OutgoingEvent {
  count += 1;
  return {
    topic: 'ledger',
    key: walletKeyOf(merchantId, 'KES'),
    type: 'pesewa.ledger.WalletFunded',
    version: BigInt(count),
    causationId: null,
    payload: { eventId: `ev-${count}`, occurredAt: 1n, merchantId, currency: 'KES', amount, commandId: '' },
  };
}

/** A service that commits fundings, one document for each; of another version if that version's `open` is given. */
export async function openSender(scope: TestScope, database = 'sender', open = openMessagingAs) {
  const messaging = await open(scope, { service: 'sender', database, produces: ['ledger'] });
  await messaging.db.createCollection('written').catch(() => undefined);
  await messaging.db.createCollection('outbox').catch(() => undefined);
  const commit = messaging.groupCommit<OutgoingEvent, string>('test.send', async (events, transaction) => {
    await messaging.db.collection<{ _id: string }>('written').insertMany(
      events.map((event) => ({ _id: idOf(event) })),
      { session: transaction.session },
    );
    for (const event of events) transaction.emit(event);
    return events.map(idOf);
  });
  return { messaging, commit };
}

/** Waits until all of a service's events are in Kafka. */
export async function outboxIsEmpty(messaging: Messaging): Promise<void> {
  await eventually(async () => expect(await outboxOf(messaging.db).countDocuments()).toBe(0));
}

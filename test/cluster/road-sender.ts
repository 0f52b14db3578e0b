import { parentPort, workerData } from 'node:worker_threads';
import { walletKeyOf } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import { type OutgoingEvent, openMessagingAs, outboxOf } from '@pesewa/messaging';
import { openTestScope, type TestConfig } from '@pesewa/testkit';

/** What the sender's thread needs. */
export interface SenderData {
  readonly config: TestConfig;
  /** Each outbox record has a message for every key. */
  readonly keys: readonly string[];
}

/** What the sender reports of each outbox record: its number, and the name of the error if it was not confirmed. */
export interface Reported {
  readonly number: number;
  readonly error?: string;
}

/** Between two outbox records, so that many wait whenever a broker breaks, and payments have the machine. */
const PAUSE_MS = 500;
const LOOK_AGAIN_MS = 200;

const { config, keys } = workerData as SenderData;
await send();

/**
 * A service that only sends: one outbox record after another, each with its number, until its parent says that it is
 * over; then it waits until all of them have left.
 */
async function send(): Promise<void> {
  await using scope = openTestScope(config);
  const messaging = await openMessagingAs(scope, {
    service: 'ledger',
    database: 'road',
    produces: ['ledger'],
  });
  await messaging.db.createCollection('outbox').catch(() => undefined);
  const commits = messaging.groupCommit<number, number>('road.send', async (numbers, transaction) => {
    for (const number of numbers) for (const key of keys) transaction.emit(eventOf(key, number));
    return Promise.resolve(numbers);
  });
  const port = parentPort;
  if (!port) throw new Error('the sender runs as a thread of its own');
  let isOver = false;
  port.once('message', () => {
    isOver = true;
  });
  for (let number = 1; !isOver; number += 1) {
    port.postMessage(
      await commits.submit(number).then(
        (): Reported => ({ number }),
        // While the members elect a primary a commit may fail; it may be there or not, so nothing is asked of it.
        (error: unknown): Reported => ({ number, error: String(error) }),
      ),
    );
    await systemClock.sleep(PAUSE_MS);
  }
  while ((await outboxOf(messaging.db).countDocuments()) > 0) await systemClock.sleep(LOOK_AGAIN_MS);
}

function eventOf(merchantId: string, number: number): OutgoingEvent {
  return {
    topic: 'ledger',
    key: walletKeyOf(merchantId, 'KES'),
    type: 'pesewa.ledger.WalletFunded',
    version: BigInt(number),
    causationId: null,
    payload: {
      eventId: `${merchantId}-${number}`,
      occurredAt: 1n,
      merchantId,
      currency: 'KES',
      amount: BigInt(number),
      commandId: `${merchantId}-${number}`,
    },
  };
}

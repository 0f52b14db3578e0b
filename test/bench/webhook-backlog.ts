import type { Collection } from 'mongodb';
import type { DeliveryRecord } from './webhook-drain.ts';

/** How many webhooks one endpoint is owed; after a day without an answer it is owed many times as many. */
export const BACKLOG = 50_000;

const BATCH = 1_000;
/**
 * Writes what endpoints are owed, as many each, due from a time on. They are like one that the dispatcher wrote and
 * delivered, because publishing their events would take longer than all rounds.
 */
export async function writeBacklog(
  deliveries: Collection<DeliveryRecord>,
  {
    name,
    merchantId,
    origins,
    count,
    dueMs,
  }: {
    readonly name: string;
    readonly merchantId: string;
    readonly origins: readonly string[];
    readonly count: number;
    readonly dueMs: number;
  },
): Promise<void> {
  const projection = { forgetAt: 0, attemptLog: 0 };
  const delivered = await deliveries.findOne({ state: 'delivered' }, { projection });
  if (!delivered) throw new Error('no webhook was delivered before');
  const owed = (index: number): DeliveryRecord => {
    const origin = origins[index % origins.length] ?? '';
    return {
      ...delivered,
      _id: `co-owed-${name}-${String(index).padStart(6, '0')}:collection-completed`,
      merchantId,
      bulkhead: `${merchantId} ${origin}`,
      webhookUrl: `${origin}/`,
      state: 'pending',
      dueAt: new Date(dueMs + index),
      roundAttempts: 0,
    };
  };
  for (let from = 0; from < count; from += BATCH)
    await deliveries.insertMany(Array.from({ length: BATCH }, (_, at) => owed(from + at)));
}

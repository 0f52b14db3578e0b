import { waitUntil } from '@pesewa/infrastructure';
import type { Collection } from 'mongodb';
import { Pool } from 'undici';
import { against, type Row } from './rows.ts';
import type { Receivers } from './webhook-receivers.ts';

/** The fields that are read here of a delivery in the dispatcher's database. */
export interface DeliveryRecord {
  readonly _id: string;
  readonly merchantId: string;
  readonly bulkhead: string;
  readonly state: string;
  readonly body: string;
  readonly webhookUrl: string;
  readonly createdAt: Date;
  readonly dueAt?: Date;
  readonly roundAttempts: number;
  readonly claim?: string;
}

const COUNT = 10_000;
/** As many as the dispatcher has at once at an endpoint, by default. */
const PER_ENDPOINT = 16;
const PREPARED_MS = 20_000;
const DUE_PER_MS = 100;
const DEADLINE_MS = 300_000;
const MS_PER_SECOND = 1_000;

/**
 * 10,000 webhooks that become due in a tenth of a second, until all are received and recorded, against a bare loop of
 * undici that posts the same bodies to the same endpoints, with as many connections to each and nothing recorded.
 *
 * They are some that were delivered to these addresses before, made due as an operator resends them: the dispatcher
 * wrote them itself.
 */
export async function measureDrain(
  deliveries: Collection<DeliveryRecord>,
  living: Receivers,
  addresses: readonly string[],
): Promise<readonly Row[]> {
  const chosen = await deliveries
    .find({ state: 'delivered', webhookUrl: { $in: [...addresses] } })
    .project<DeliveryRecord>({ body: 1, webhookUrl: 1 })
    .limit(COUNT)
    .toArray();
  if (chosen.length < COUNT) throw new Error(`only ${chosen.length} webhooks were delivered before`);
  const ids = chosen.map(({ _id }) => _id);
  const floorSeconds = await postBare(chosen);
  await living.take();
  const dueMs = await makeDue(deliveries, ids);
  let lastMs = 0;
  const got = new Set<string>();
  await waitUntil('the webhooks', DEADLINE_MS, async () => {
    for (const { id, atMs } of await living.take()) {
      got.add(id);
      lastMs = atMs;
    }
    if (got.size < COUNT) throw new Error(`${got.size} of ${COUNT} received`);
  });
  await waitUntil('their records', DEADLINE_MS, async () => {
    const pending = await deliveries.countDocuments({ _id: { $in: ids }, state: 'pending' });
    if (pending > 0) throw new Error(`${pending} are pending`);
  });
  const recordedSeconds = (Date.now() - dueMs) / MS_PER_SECOND;
  return [
    against({
      name: 'webhooks.drain',
      value: (COUNT / (lastMs - dueMs)) * MS_PER_SECOND,
      unit: 'webhooks/s',
      floor: COUNT / floorSeconds,
      detail: `${COUNT.toLocaleString('en')} due at once to ${addresses.length} endpoints, signed and recorded; floor: a bare loop of undici with the same bodies, endpoints and connections`,
    }),
    against({
      name: 'webhooks.drain.seconds',
      value: recordedSeconds,
      unit: 's',
      floor: floorSeconds,
      detail: 'from due until the last is recorded as delivered; floor as above; lower is better',
    }),
  ];
}

/** The seconds that the bare loop takes. */
async function postBare(all: readonly Pick<DeliveryRecord, 'body' | 'webhookUrl'>[]): Promise<number> {
  const byAddress = Map.groupBy(all, ({ webhookUrl }) => webhookUrl);
  const headers = { 'content-type': 'application/json' };
  const startedMs = performance.now();
  const post = async ([address, bodies]: readonly [string, { readonly body: string }[]]) => {
    const { origin, pathname: path } = new URL(address);
    const pool = new Pool(origin, { connections: PER_ENDPOINT, pipelining: 1 });
    const work = async () => {
      for (let next = bodies.pop(); next; next = bodies.pop()) {
        const answer = await pool.request({ path, method: 'POST', headers, body: next.body });
        await answer.body.dump();
      }
    };
    await Promise.all(Array.from({ length: PER_ENDPOINT }, work));
    await pool.close();
  };
  await Promise.all([...byAddress].map(post));
  return (performance.now() - startedMs) / MS_PER_SECOND;
}

/** Makes them due one after another from a time that is yet to come when they are written; gives that time. */
async function makeDue(deliveries: Collection<DeliveryRecord>, ids: readonly string[]): Promise<number> {
  const dueMs = Date.now() + PREPARED_MS;
  await deliveries.bulkWrite(
    ids.map((_id, index) => ({
      updateOne: {
        filter: { _id },
        update: {
          $set: {
            state: 'pending',
            dueAt: new Date(dueMs + Math.floor(index / DUE_PER_MS)),
            roundAttempts: 0,
          },
          $unset: { claim: true, forgetAt: true },
        },
      },
    })),
    { ordered: false },
  );
  if (Date.now() >= dueMs) throw new Error('the webhooks were due before all of them were written');
  return dueMs;
}

import { eventually, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import {
  openDamagedTopic,
  openServiceWithPositions,
  type ServiceWithPositions,
} from '../partitions.fixture.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

type Topic = Awaited<ReturnType<typeof openDamagedTopic>>;

async function applyAll(topic: Topic, group: string, last: string) {
  await using service = await openServiceWithPositions(config, group);
  await service.start();
  await eventually(async () => expect(await service.applied()).toHaveProperty([last], 1));
  await eventually(async () => expect(await topic.committed(group, 0)).toBe(String(await endOf(topic))));
}

async function endOf({ admin, topic }: Topic): Promise<number> {
  const ends = await admin.fetchTopicOffsets(topic);
  return Number(ends.find(({ partition }) => partition === 0)?.high);
}

async function positionOf(service: ServiceWithPositions): Promise<Record<string, unknown>> {
  const { status, body } = await service.call('GET', '/positions');
  expect(status).toBe(200);
  const items = body['items'] as readonly Record<string, unknown>[];
  return items.find(({ partition }) => partition === 0) ?? {};
}

const stoppedAt = (service: ServiceWithPositions) => eventually(() => expect(service.stops).toHaveLength(1));

it('goes on from where a repaired database stands, and notices the next one that is restored', async () => {
  await using topic = await openDamagedTopic(config);
  await topic.write(0, ['s-1', 's-2', 's-3', 's-4']);
  await applyAll(topic, 'stayer', 's-4');
  await using service = await openServiceWithPositions(config, 'stayer');
  const end = await endOf(topic);
  const next = BigInt(end - 2);
  await service.offsets.updateOne({ _id: service.idOf(0) }, { $set: { next } });
  await service.start();
  await stoppedAt(service);
  expect(await positionOf(service)).toMatchObject({
    state: 'stopped',
    mismatch: 'restored',
    stored: { next: String(next) },
    kafka: { low: '0', high: String(end), committed: String(end) },
    lag: null,
  });

  const place = { topic: topic.topic, partition: 0 };
  const request = { ...place, reason: 'restored from the backup of noon' };
  // Only the repair of the database lets it go on.
  for (const dryRun of [true, false])
    expect(await service.call('POST', '/positions/realign', 'ama', { ...request, dryRun })).toMatchObject({
      status: 409,
      body: { code: 'restored' },
    });
  expect((await service.offsets.findOne({ _id: service.idOf(0) }))?.acceptedCommitted).toBeUndefined();
  expect(await service.realign({ ...request, by: 'recover', isRepaired: true })).toMatchObject({
    value: { next, appliedAgain: 2n, skipped: 0n, requestedBy: 'recover' },
  });
  await eventually(async () =>
    expect(await service.applied()).toMatchObject({ 's-2': 1, 's-3': 2, 's-4': 2 }),
  );
  await eventually(async () =>
    expect(await positionOf(service)).toMatchObject({ state: 'continues', stored: { next: String(end) } }),
  );
  expect(await service.call('POST', '/positions/realign', 'ama', request)).toMatchObject({
    status: 409,
    body: { code: 'not_stopped' },
  });
  expect((await service.offsets.findOne({ _id: service.idOf(0) }))?.acceptedCommitted).toBeUndefined();

  // The position is committed to Kafka again, so restoring the same backup a second time is noticed.
  await eventually(async () => expect(await topic.committed('stayer', 0)).toBe(String(end)));
  await service.offsets.updateOne({ _id: service.idOf(0) }, { $set: { next } });
  await topic.write(0, ['s-5']);
  await eventually(() => expect(service.stops).toHaveLength(2));
  expect(await service.applied()).not.toHaveProperty('s-5');
});

it('starts anew where the position is lost, by one operator', async () => {
  await using topic = await openDamagedTopic(config);
  await topic.write(0, ['t-1', 't-2']);
  await applyAll(topic, 'starter', 't-2');
  await using service = await openServiceWithPositions(config, 'starter');
  await service.offsets.deleteMany({});
  await service.start();
  await stoppedAt(service);
  const place = { topic: topic.topic, partition: 0 };
  const request = { ...place, reason: 'the database was lost' };
  const realign = (by: string, body: object) => service.call('POST', '/positions/realign', by, body);
  const refused = { status: 400, body: { code: 'invalid' } };
  expect(await realign('ama', place)).toMatchObject({ ...refused, body: { message: 'reason is required' } });
  expect(await realign('ama', { ...request, to: 'end' })).toMatchObject(refused);
  expect((await realign('nobody', request)).status).toBe(403);
  expect((await realign('ama', { ...request, partition: 99 })).status).toBe(404);
  const plan = { next: '0', appliedAgain: String(await endOf(topic)), skipped: '0' };
  expect(await realign('ama', { ...request, dryRun: true })).toMatchObject({
    status: 200,
    body: { state: 'stopped', plan },
  });
  expect(await realign('ama', request)).toMatchObject({ status: 200, body: { ...plan, from: null } });
  await eventually(async () => expect(await service.applied()).toMatchObject({ 't-1': 2, 't-2': 2 }));
  await topic.write(0, ['t-3']);
  await eventually(async () => expect(await service.applied()).toHaveProperty('t-3', 1));
  expect(service.stops).toHaveLength(1);
});

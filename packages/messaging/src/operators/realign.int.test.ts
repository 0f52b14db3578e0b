import { eventually, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import {
  openDamagedTopic,
  openServiceWithPositions,
  type ServiceWithPositions,
} from '../partitions.fixture.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment(['stayer', 'starter', 'skipper']);
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

/** When the realignment of the partition was proposed, which names it. */
async function proposedAt(service: ServiceWithPositions): Promise<string> {
  const { realignment } = await positionOf(service);
  return (realignment as { readonly requestedAt: string }).requestedAt;
}

const stoppedAt = (service: ServiceWithPositions) => eventually(() => expect(service.stops).toHaveLength(1));

it('goes on from where a restored database stands, and notices the next one that is restored', async () => {
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

  expect((await service.call('GET', '/positions?proposed=true')).body).toMatchObject({ items: [] });

  const request = {
    topic: topic.topic,
    partition: 0,
    to: 'stored',
    reason: 'restored from the backup of noon',
  };
  const plan = { next: String(next), appliedAgain: '2', skipped: '0', operators: 1 };
  expect(await service.call('POST', '/positions/realign', 'ama', { ...request, dryRun: true })).toMatchObject(
    {
      status: 200,
      body: { state: 'stopped', plan },
    },
  );
  expect((await service.offsets.findOne({ _id: service.idOf(0) }))?.acceptedCommitted).toBeUndefined();
  expect(await service.call('POST', '/positions/realign', 'ama', request)).toMatchObject({
    status: 200,
    body: { ...plan, status: 'done', requestedBy: 'ama' },
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
  const request = { topic: topic.topic, partition: 0, reason: 'the database was lost' };
  expect(await service.call('POST', '/positions/realign', 'ama', { ...request, to: 'stored' })).toMatchObject(
    {
      status: 409,
      body: { code: 'nothing_stored' },
    },
  );
  expect(await service.call('POST', '/positions/realign', 'ama', { ...request, to: 'middle' })).toMatchObject(
    {
      status: 400,
      body: { code: 'invalid' },
    },
  );
  expect(
    (await service.call('POST', '/positions/realign', 'nobody', { ...request, to: 'start' })).status,
  ).toBe(403);
  expect(await service.call('POST', '/positions/realign', 'ama', { ...request, to: 'start' })).toMatchObject({
    status: 200,
    body: { next: '0', skipped: '0', from: null },
  });
  await eventually(async () => expect(await service.applied()).toMatchObject({ 't-1': 2, 't-2': 2 }));
  await topic.write(0, ['t-3']);
  await eventually(async () => expect(await service.applied()).toHaveProperty('t-3', 1));
  expect(service.stops).toHaveLength(1);
});

it('skips messages by two operators alone', async () => {
  await using topic = await openDamagedTopic(config);
  await topic.write(0, ['u-1', 'u-2']);
  await applyAll(topic, 'skipper', 'u-2');
  await topic.write(0, ['u-3']);
  await using service = await openServiceWithPositions(config, 'skipper');
  const end = await endOf(topic);
  await service.offsets.updateOne({ _id: service.idOf(0) }, { $set: { next: BigInt(end - 2) } });
  await service.start();
  await stoppedAt(service);
  const place = { topic: topic.topic, partition: 0 };
  const request = { ...place, to: 'end', reason: 'chosen by hand' };
  const beyond = { ...request, to: String(end + 1) };
  expect((await service.call('POST', '/positions/realign', 'ama', beyond)).body).toMatchObject({
    code: 'beyond_end',
  });
  expect(await service.call('POST', '/positions/realign', 'ama', request)).toMatchObject({
    status: 202,
    body: { status: 'proposed', skipped: '2', operators: 2 },
  });
  expect(await positionOf(service)).toMatchObject({ state: 'stopped', realignment: { status: 'proposed' } });
  const proposed = await service.call('GET', '/positions?proposed=true');
  expect(proposed.body).toMatchObject({ items: [{ partition: 0, realignment: { status: 'proposed' } }] });
  const seen = { ...place, requestedAt: await proposedAt(service) };
  expect(await service.call('POST', '/positions/realign/approve', 'kofi', place)).toMatchObject({
    status: 400,
    body: { message: 'requestedAt must be a time such as 2026-11-01T08:00:00Z' },
  });
  expect(await service.call('POST', '/positions/realign/reject', 'ama', seen)).toMatchObject({
    status: 400,
    body: { message: 'reason is required' },
  });
  const rejection = { ...seen, reason: 'not these' };
  expect(await service.call('POST', '/positions/realign/reject', 'ama', rejection)).toMatchObject({
    body: { status: 'rejected', decidedBy: 'ama', rejectedFor: 'not these' },
  });
  await service.call('POST', '/positions/realign', 'ama', request);
  expect(await service.call('POST', '/positions/realign/approve', 'kofi', seen)).toMatchObject({
    status: 409,
    body: { code: 'changed' },
  });
  const anew = { ...place, requestedAt: await proposedAt(service) };
  expect(await service.call('POST', '/positions/realign/approve', 'ama', anew)).toMatchObject({
    status: 403,
    body: { code: 'same_operator' },
  });
  expect(await service.call('POST', '/positions/realign/approve', 'kofi', anew)).toMatchObject({
    status: 200,
    body: { status: 'approved', decidedBy: 'kofi' },
  });
  await topic.write(0, ['u-4']);
  await eventually(async () => expect(await service.applied()).toHaveProperty('u-4', 1));
  expect(await service.applied()).not.toHaveProperty('u-3');
  expect(
    (await service.call('POST', '/positions/realign', 'ama', { ...request, partition: 99 })).status,
  ).toBe(404);
});

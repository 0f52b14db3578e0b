import { topics } from '@pesewa/contracts';
import { eventually, prepareTestEnvironment } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import {
  openDamagedTopic,
  openServiceWithPositions,
  type ServiceWithPositions,
} from '../partitions.fixture.ts';

const GROUP = 'looker';

async function openDamage() {
  const config = await prepareTestEnvironment();
  const topic = await openDamagedTopic(config);
  return { topic, openService: () => openServiceWithPositions(config, GROUP) };
}

type Damage = Awaited<ReturnType<typeof openDamage>>;

const ids = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `a-${String(first + index).padStart(2, '0')}`);
const once = (all: readonly string[]) => Object.fromEntries(all.map((id) => [id, 1]));

/** Applies five messages of partition 0 and commits them to Kafka. */
async function applyFive({ topic, openService }: Damage): Promise<void> {
  await using service = await openService();
  await topic.write(0, ids(1, 5));
  await service.start();
  await eventually(async () => expect(await service.applied()).toEqual(once(ids(1, 5))));
  await eventually(async () => expect(await topic.committed(GROUP, 0)).toBe('5'));
  await eventually(async () => expect(await service.offsets.countDocuments()).toBe(topics.ledger.partitions));
}

/**
 * Expects partition 0 to be stopped for this reason, reported once and in every place, while another partition goes on.
 */
async function expectStopped(
  { topic }: Damage,
  service: ServiceWithPositions,
  expected: { readonly reason: string; readonly remedy: string; readonly applied: readonly string[] },
): Promise<void> {
  await eventually(() => expect(service.stops.map(({ partition }) => partition)).toContain(0));
  await topic.write(0, ['never-1', 'never-2']);
  await topic.write(1, ['b-01']);
  await eventually(async () => expect(await service.applied()).toEqual(once([...expected.applied, 'b-01'])));
  const looks = service.looks();
  await eventually(() => expect(service.looks()).toBeGreaterThan(looks + 1));
  // It was checked again meanwhile without another report.
  await topic.write(1, ['b-02']);
  await eventually(async () =>
    expect(await service.applied()).toEqual(once([...expected.applied, 'b-01', 'b-02'])),
  );
  const { reason, remedy } = service.stops[0] ?? {};
  expect(reason).toContain(expected.reason);
  expect(remedy).toContain(expected.remedy);
  expect(service.stops).toHaveLength(1);
  const { healthy, details } = await service.scope.health.readiness();
  expect(healthy).toBe(true);
  expect(details[`partitions of ${GROUP}`]).toContain(expected.reason);
  expect(await service.metric()).toContain(`{topic="${topic.topic}"} 1`);
}

describe('a topic that was deleted and created again', () => {
  it('stops its partitions while the consumer was away', async () => {
    const damage = await openDamage();
    await using _topic = damage.topic;
    await applyFive(damage);
    await damage.topic.recreate();
    // As long as the old log was, so that its offsets look right.
    await damage.topic.write(0, ids(6, 10));
    await using service = await damage.openService();
    await service.start();
    await eventually(() => expect(service.stops).toHaveLength(topics.ledger.partitions));
    for (const { reason, remedy } of service.stops) {
      expect(reason).toContain('deleted and created again');
      expect(remedy).toContain('pesewa realign');
    }
    expect(await service.applied()).toEqual(once(ids(1, 5)));
    expect((await service.scope.health.readiness()).healthy).toBe(true);
    expect(await service.metric()).toContain(`} ${topics.ledger.partitions}`);
  });

  it('stops its partitions while the consumer runs', async () => {
    const damage = await openDamage();
    await using _topic = damage.topic;
    await using service = await damage.openService();
    await damage.topic.write(0, ids(1, 5));
    await service.start();
    await eventually(async () => expect(await service.applied()).toEqual(once(ids(1, 5))));
    await damage.topic.recreate();
    await damage.topic.write(0, ids(6, 9));
    await eventually(() =>
      expect(service.stops.find(({ partition }) => partition === 0)).toMatchObject({
        reason: 'the topic was deleted and created again since we read it',
      }),
    );
    expect(await service.applied()).toEqual(once(ids(1, 5)));
  });
});

describe('a log whose start was cut past what comes next', () => {
  it('stops the partition while the consumer was away', async () => {
    const damage = await openDamage();
    const { topic } = damage;
    await using _topic = topic;
    await applyFive(damage);
    await topic.write(0, ids(6, 10));
    await topic.cut(8);
    await using service = await damage.openService();
    await service.start();
    await expectStopped(damage, service, {
      reason: 'Kafka no longer keeps 5, which is to come next',
      remedy: `pesewa realign ${GROUP} ${topic.topic} 0 --reason`,
      applied: ids(1, 5),
    });
  });

  it('stops the partition while the consumer lags behind', async () => {
    const damage = await openDamage();
    const { topic } = damage;
    await using _topic = topic;
    await using service = await damage.openService();
    await topic.write(0, ids(1, 5));
    await service.start();
    await eventually(async () => expect(await service.applied()).toEqual(once(ids(1, 5))));
    const { letGo, reached } = service.holdBack();
    await topic.write(0, ids(6, 6));
    // Messages fetched before the cut are applied; those behind it are gone.
    await reached;
    await topic.write(0, ids(7, 12));
    await topic.cut(10);
    letGo();
    await expectStopped(damage, service, {
      reason: 'Kafka no longer keeps 6, which is to come next',
      remedy: 'pesewa realign',
      applied: ids(1, 6),
    });
  });
});

describe('a log that ends before what comes next', () => {
  it('stops the partition, and keeps it stopped however the log grows', async () => {
    const damage = await openDamage();
    await using _topic = damage.topic;
    await applyFive(damage);
    await using service = await damage.openService();
    // The same state as if Kafka had lost the last two of seven messages.
    await service.offsets.updateOne({ _id: service.idOf(0) }, { $set: { next: 7n } });
    await service.start();
    await eventually(() => expect(service.stops).toHaveLength(1));
    await eventually(async () =>
      expect(await service.offsets.findOne({ _id: service.idOf(0) })).toHaveProperty('truncatedAt', 5n),
    );
    await damage.topic.write(0, ids(8, 11));
    await expectStopped(damage, service, {
      reason: 'Kafka ended at 5, but 7 is to come next: its log was truncated',
      remedy: 'pesewa realign',
      applied: ids(1, 5),
    });
  });

  it('goes on where all that was there is there again', async () => {
    const damage = await openDamage();
    await using _topic = damage.topic;
    await applyFive(damage);
    await using service = await damage.openService();
    // The note that is left if a new leader did not know the last of five messages yet.
    const noted = { truncatedAt: 4n, truncationSeenAt: new Date() };
    await service.offsets.updateOne({ _id: service.idOf(0) }, { $set: noted });
    await damage.topic.write(0, ids(6, 7));
    await service.start();
    await eventually(async () => expect(await service.applied()).toEqual(once(ids(1, 7))));
    expect(service.stops).toEqual([]);
    expect(await service.offsets.findOne({ _id: service.idOf(0) })).not.toHaveProperty('truncatedAt');
  });
});

describe('a database that does not know what Kafka knows', () => {
  it('stops a partition whose offset document is lost', async () => {
    const damage = await openDamage();
    await using _topic = damage.topic;
    await applyFive(damage);
    await using service = await damage.openService();
    await service.offsets.deleteMany({});
    await service.start();
    await expectStopped(damage, service, {
      reason: 'our database has no position, but Kafka knows that we had come to 5',
      remedy: 'the argument recover',
      applied: ids(1, 5),
    });
  });

  it('stops a partition whose offset document is an older one', async () => {
    const damage = await openDamage();
    await using _topic = damage.topic;
    await applyFive(damage);
    await using service = await damage.openService();
    await service.offsets.updateOne({ _id: service.idOf(0) }, { $set: { next: 3n } });
    await service.start();
    await expectStopped(damage, service, {
      reason: 'Kafka knows that we had come to 5, but our database is at 3: it is an older one',
      remedy: 'the argument recover',
      applied: ids(1, 5),
    });
  });

  it('stops a partition whose offset document becomes an older one while it is consumed', async () => {
    const damage = await openDamage();
    await using _topic = damage.topic;
    await using service = await damage.openService();
    await damage.topic.write(0, ids(1, 5));
    await service.start();
    await eventually(async () => expect(await damage.topic.committed(GROUP, 0)).toBe('5'));
    await service.offsets.updateOne({ _id: service.idOf(0) }, { $set: { next: 3n } });
    await damage.topic.write(0, ids(6, 6));
    await expectStopped(damage, service, {
      reason: 'it is an older one',
      remedy: 'the argument recover',
      applied: ids(1, 5),
    });
  });
});

describe('a partition that was added', () => {
  it('stops alone', async () => {
    const damage = await openDamage();
    const { topic } = damage;
    await using _topic = topic;
    await applyFive(damage);
    const { partitions } = topics.ledger;
    await topic.admin.createPartitions({
      topicPartitions: [{ topic: topic.topic, count: partitions + 1 }],
    });
    await topic.write(partitions, ['added-1']);
    await using service = await damage.openService();
    await service.start();
    await eventually(() => expect(service.stops).toHaveLength(1));
    expect(service.stops[0]).toMatchObject({ partition: partitions });
    expect(service.stops[0]?.['reason']).toContain(`more than the ${partitions} partitions`);
    expect(service.stops[0]?.['remedy']).toContain('deploy the version');
    await topic.write(0, ids(6, 6));
    await eventually(async () => expect(await service.applied()).toEqual(once(ids(1, 6))));
    expect((await service.scope.health.readiness()).healthy).toBe(true);
  });
});

import { createAutoAdvancingClock, eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { createPartitioner, type PartitionQueue } from './partition-queues.ts';
import { createProducer, type Leader, SourceFencedError } from './producer.ts';
import type { PartitionAnswer } from './wire.ts';

const TOO_LARGE = 10;
const NOT_LEADER = 6;

type Answer = (
  broker: number,
  queue: PartitionQueue,
  bodies: readonly string[],
) => Promise<number | undefined>;

/** A cluster of two brokers with a log for each partition; the test decides their answers. */
function openCluster() {
  const log = new Map<string, string[]>();
  const leaders = new Map([
    ['t/0', 1],
    ['t/1', 2],
  ]);
  const cluster = { answer: (async () => 0) as Answer, sure: true, heldBack: 0 };
  const said: string[] = [];
  const nodes = {
    leaders: async (): Promise<readonly Leader[]> =>
      [...leaders].map(([id, broker]) => ({ topic: 't', partition: Number(id.slice(2)), broker })),
    write: async (broker: number, queues: readonly PartitionQueue[]): Promise<readonly PartitionAnswer[]> => {
      const bodiesOf = ({ inFlight }: PartitionQueue) =>
        inFlight.flatMap(({ bodies }) => bodies.map((body) => body.toString()));
      const answers = queues.map(async (queue) => {
        const leads = leaders.get(queue.id) === broker;
        const errorCode = leads ? await cluster.answer(broker, queue, bodiesOf(queue)) : NOT_LEADER;
        return { queue, errorCode };
      });
      // A broker that dies has written nothing of the request.
      return (await Promise.all(answers)).flatMap(({ queue, errorCode }) => {
        if (errorCode === 0) log.set(queue.id, [...(log.get(queue.id) ?? []), ...bodiesOf(queue)]);
        return errorCode === undefined ? [] : [{ topic: 't', partition: queue.partition, errorCode }];
      });
    },
    drop: () => undefined,
  };
  const producer = createProducer(nodes, {
    clock: createAutoAdvancingClock(),
    log: (_level, message) => void said.push(message),
    partitionsOf: () => 2,
    maySend: (source) => {
      if (cluster.sure || !source.startsWith('g/')) return true;
      cluster.heldBack += 1;
      return false;
    },
  });
  return { producer, log, leaders, cluster, said };
}

/** One key for each of the two partitions. */
const keys = [0, 1].map((partition) => {
  const partitionOf = createPartitioner();
  return ['a', 'b', 'c', 'd', 'e', 'f'].find((key) => partitionOf('t', key, 2) === partition) ?? '';
});

const record = (partition: number, body: string) => ({
  topic: 't',
  key: keys[partition] ?? '',
  body: Buffer.from(body),
});

const batch = (source: string, ...bodies: readonly string[]) => ({
  source,
  records: [0, 1].flatMap((partition) => bodies.map((body) => record(partition, body))),
});

describe('a producer', () => {
  it('is done when each partition has answered, and writes again what did not', async () => {
    const { producer, log, cluster } = openCluster();
    let fails = 2;
    cluster.answer = async (_broker, { partition }) => {
      if (partition !== 1 || fails === 0) return 0;
      fails -= 1;
      // The first time it refuses for now; the second time it leaves this partition out of its answer.
      return fails === 1 ? NOT_LEADER : undefined;
    };
    await producer.produce(batch('s', '1', '2'));
    expect(log.get('t/0')).toEqual(['1', '2']);
    expect(log.get('t/1')).toEqual(['1', '2']);
  });

  it('loses nothing and keeps the order of each partition while brokers answer, die and change places', async () => {
    const { producer, log, leaders, cluster } = openCluster();
    let turn = 0;
    let asked = Promise.withResolvers<void>();
    cluster.answer = async (broker, { id }) => {
      turn += 1;
      asked.resolve();
      if (turn % 3 === 0) leaders.set(id, broker === 1 ? 2 : 1);
      if (turn % 5 === 0) throw new Error('the broker died after it had written nothing');
      return turn % 7 === 0 ? 19 : 0;
    };
    const numbers = Array.from({ length: 200 }, (_, index) => String(index));
    const produced: Promise<void>[] = [];
    for (const number of numbers) {
      asked = Promise.withResolvers();
      produced.push(producer.produce(batch(`s${Number(number) % 3}`, number)));
      // Some batches come together, the others while brokers are being asked.
      if (Number(number) % 4 === 0) await asked.promise;
    }
    await Promise.all(produced);
    expect(log.get('t/0')).toHaveLength(200);
    expect(log.get('t/1')).toHaveLength(200);
    expect(log.get('t/0')).toEqual(log.get('t/0')?.toSorted((one, other) => Number(one) - Number(other)));
  });

  it('holds back the source of a refused batch, and only that', async () => {
    const { producer, log, cluster, said } = openCluster();
    cluster.answer = async (_broker, _queue, bodies) => (bodies.includes('huge') ? TOO_LARGE : 0);
    let isDone = false;
    void producer.produce(batch('bad', 'huge')).then(() => {
      isDone = true;
    });
    const behind = producer.produce(batch('bad', 'behind'));
    await producer.produce(batch('good', '1'));
    await producer.produce(batch('good', '2'));
    expect(log.get('t/0')).toEqual(['1', '2']);
    expect(isDone).toBe(false);
    expect(said).toContain('Kafka refuses events');
    cluster.answer = async () => 0;
    await behind;
    expect(log.get('t/0')).toEqual(['1', '2', 'huge', 'behind']);
  });

  it('waits only for the leading broker: a silent one delays only its own partitions', async () => {
    const { producer, log, cluster } = openCluster();
    const silent = Promise.withResolvers<number>();
    cluster.answer = (broker) => (broker === 2 ? silent.promise : Promise.resolve(0));
    const both = producer.produce(batch('s', '1'));
    await producer.produce({ source: 's', records: [record(0, '2')] });
    expect(log.get('t/0')).toEqual(['1', '2']);
    expect(log.get('t/1')).toBeUndefined();
    silent.resolve(0);
    await both;
    expect(log.get('t/1')).toEqual(['1']);
  });

  it('drops what is not on its way, and has the answer to what is, before a source is somebody else’s', async () => {
    const { producer, log, cluster } = openCluster();
    const slow = Promise.withResolvers<number>();
    const asked = Promise.withResolvers<void>();
    cluster.answer = async (_broker, { partition }) => {
      if (partition === 1) return 0;
      asked.resolve();
      return slow.promise;
    };
    const first = producer.produce({ source: 'g/t/0', records: [record(0, 'on its way')] });
    await asked.promise;
    const second = producer.produce({ source: 'g/t/0', records: [record(0, 'queued')] });
    second.catch(() => undefined);
    let isDropped = false;
    const dropping = producer.drop('g/t/0').then(() => {
      isDropped = true;
    });
    await producer.produce({ source: 'other', records: [record(1, 'meanwhile')] });
    expect(isDropped).toBe(false);
    slow.resolve(0);
    await dropping;
    await expect(second).rejects.toBeInstanceOf(SourceFencedError);
    await first;
    await producer.produce(batch('other', 'later'));
    expect(log.get('t/0')).toEqual(['on its way', 'later']);
  });

  it('sends nothing of a source that is not sure to be its own any more, not even again', async () => {
    const { producer, log, cluster } = openCluster();
    cluster.answer = async () => {
      // There are too few replicas, and before the next attempt another process takes the partition over.
      cluster.sure = false;
      return 19;
    };
    const zombie = producer.produce(batch('g/t/0', 'old'));
    zombie.catch(() => undefined);
    await eventually(() => expect(cluster.sure).toBe(false));
    cluster.answer = async () => 0;
    await producer.produce(batch('commit', 'new'));
    const { heldBack } = cluster;
    await eventually(() => expect(cluster.heldBack).toBeGreaterThan(heldBack));
    expect(log.get('t/0')).toEqual(['new']);
    await producer.drop('g/t/0');
    await expect(zombie).rejects.toBeInstanceOf(SourceFencedError);
    expect(log.get('t/0')).toEqual(['new']);
  });
});

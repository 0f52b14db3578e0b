import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { type Cluster, type Node, plainSettings } from '@pesewa/infrastructure';
import { systemClock } from '@pesewa/kernel';
import { prepareTopics } from '@pesewa/messaging';
import { createTestKafka, eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedCluster } from './shared-cluster.ts';

let cluster: Cluster;
const topicPrefix = `n${randomBytes(3).toString('hex')}.`;

/** A client that begins at these brokers. */
const kafkaAt = (brokers: readonly Node[]) =>
  createTestKafka({ KAFKA_BROKERS: brokers.map(({ address }) => address) });

const prepare = (prefix: string) =>
  prepareTopics({ settings: plainSettings(cluster.env), topicPrefix: prefix, log: () => undefined });

beforeAll(async () => {
  cluster = await sharedCluster();
  await prepare(topicPrefix);
});

/** Whether something takes connections there; a paused process does, by its kernel. */
function listens({ address }: Node): Promise<boolean> {
  const [host = '', port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    const finish = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', finish(true)).once('error', finish(false));
  });
}

/** Commits a record on a majority of the members, through the primary of that moment. */
async function writeRecord(): Promise<void> {
  const client = new MongoClient(cluster.env.MONGODB_URL, { retryWrites: true });
  try {
    const records = client.db('nodes').collection('records', { writeConcern: { w: 'majority' } });
    await eventually(() => records.insertOne({ written: true }), GOES_ON_MS);
  } finally {
    await client.close();
  }
}

/** Longer than two requests to a node that answers nothing take until they are given up. */
const GOES_ON_MS = 120_000;

/** Waits until the asked brokers say that one of these leads each partition of a topic. */
async function leadAll(asked: readonly Node[], leading: readonly Node[]): Promise<void> {
  const admin = kafkaAt(asked).admin();
  await admin.connect();
  try {
    const topic = `${topicPrefix}webhooks.events.v1`;
    const addresses = new Set(leading.map(({ address }) => address));
    await eventually(async () => {
      const { brokers } = await admin.describeCluster();
      const ids = brokers
        .filter(({ host, port }) => addresses.has(`${host}:${port}`))
        .map(({ nodeId }) => nodeId);
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      const leaders = topics.flatMap(({ partitions }) => partitions.map(({ leader }) => leader));
      expect(leaders.length).toBeGreaterThan(0);
      expect(leaders.filter((leader) => !ids.includes(leader))).toEqual([]);
    }, GOES_ON_MS);
  } finally {
    await admin.disconnect();
  }
}

const longTimeout = { timeout: 300_000 };

describe.each([
  { kind: 'broker', nodes: () => cluster.brokers, goesOn: leadAll },
  { kind: 'member', nodes: () => cluster.members, goesOn: writeRecord },
])('a $kind', ({ nodes, goesOn }) => {
  const nodeAt = (index: number): Node => {
    const node = nodes()[index];
    if (!node) throw new RangeError(`no node ${index}`);
    return node;
  };

  const others = (broken: Node) => nodes().filter((node) => node !== broken);

  it(
    'that is killed is gone, the others go on, and it comes back as another process',
    longTimeout,
    async () => {
      const node = nodeAt(0);
      const before = node.pid();
      await node.kill();
      expect(await listens(node)).toBe(false);
      await goesOn(others(node), others(node));
      await node.start();
      expect(node.pid()).not.toBe(before);
      await goesOn([node], nodes());
    },
  );

  it('that is stopped gently hands over, and comes back', longTimeout, async () => {
    const node = nodeAt(1);
    await node.stop();
    expect(await listens(node)).toBe(false);
    await goesOn(others(node), others(node));
    await node.start();
    await goesOn([node], nodes());
  });

  it(
    'that is paused answers nothing, is replaced, and goes on as the same process',
    longTimeout,
    async () => {
      const node = nodeAt(2);
      const before = node.pid();
      node.pause();
      expect(await listens(node)).toBe(true);
      try {
        await goesOn(others(node), others(node));
      } finally {
        node.resume();
      }
      await node.ready();
      expect(node.pid()).toBe(before);
      await goesOn([node], nodes());
    },
  );
});

describe('topics of three brokers', () => {
  const copiesOf = async (prefix: string) => {
    const admin = kafkaAt(cluster.brokers).admin();
    await admin.connect();
    try {
      const names = (await admin.listTopics()).filter((name) => name.startsWith(prefix));
      const { topics } = await admin.fetchTopicMetadata({ topics: names });
      return new Set(topics.flatMap(({ partitions }) => partitions.map(({ replicas }) => replicas.length)));
    } finally {
      await admin.disconnect();
    }
  };

  it('have three copies of each partition', async () => {
    expect(await copiesOf(topicPrefix)).toEqual(new Set([3]));
  });

  it('have them too where a broker is away for a moment as they are made', longTimeout, async () => {
    const [, , slow] = cluster.brokers;
    const prefix = `s${topicPrefix}`;
    slow?.pause();
    const prepared = prepare(prefix);
    // Less than its session: it still counts as one of three.
    await systemClock.sleep(3_000);
    slow?.resume();
    await prepared;
    await slow?.ready();
    expect(await copiesOf(prefix)).toEqual(new Set([3]));
  });
});

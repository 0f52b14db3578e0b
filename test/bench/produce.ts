import { randomUUID } from 'node:crypto';
import { createKafka, openProducer, Partitioners } from '@pesewa/kafka';
import { systemClock } from '@pesewa/kernel';
import { encodeRecordBody } from '@pesewa/testkit';
import type { Bench } from './bench.ts';
import { rateOf } from './floors.ts';
import { against, type Row } from './rows.ts';

const PARTITIONS = 8;
const MESSAGE_BYTES = 300;
const BATCHES = [10, 100, 500] as const;

/** Messages produced per second, one batch after another over eight partitions, against the client of kafkajs. */
export const benchProduce: Bench = async ({ infrastructure, log }) => {
  log('producing, against kafkajs');
  const brokers = infrastructure.env.KAFKA_BROKERS.split(',');
  const options = { brokers, clientId: 'bench-produce', log: () => undefined };
  const kafka = createKafka(options);
  const topic = `bench.produce.${randomUUID()}`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: PARTITIONS }] });
  const theirs = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await theirs.connect();
  await using ours = openProducer({ ...options, clock: systemClock, partitionsOf: () => PARTITIONS });
  const value = Buffer.alloc(MESSAGE_BYTES, 1);
  const rows: Row[] = [];
  for (const count of BATCHES) {
    const messages = Array.from({ length: count }, (_, index) => ({ key: `k-${index}`, value }));
    const floor = await rateOf(1, () => theirs.send({ topic, messages, acks: -1 }));
    const produced = await rateOf(1, () =>
      ours.produce({
        source: 'bench',
        records: messages.map((message) => ({ topic, key: message.key, body: encodeRecordBody(message) })),
      }),
    );
    rows.push(
      against({
        name: `produce.${count}`,
        value: produced * count,
        unit: 'messages/s',
        floor: floor * count,
        detail: `${count} messages of ${MESSAGE_BYTES} B at a time, acks all, encoding included`,
      }),
    );
  }
  await theirs.disconnect();
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  return rows;
};

import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import avro from 'avsc';
import { Kafka, logLevel } from 'kafkajs';

const { KAFKA_BROKERS = '', SCHEMA_REGISTRY_URL = '', TOPIC_PREFIX = '' } = process.env;

/** Avro's long as bigint, because an amount may be more than a number holds exactly. */
const long = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => Buffer.from(BigInt64Array.of(value).buffer),
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (left: bigint, right: bigint) => (left < right ? -1 : Number(left > right)),
});
const typeHook = (schema: unknown) => (schema === 'long' ? long : undefined);
const registry = new SchemaRegistry({ host: SCHEMA_REGISTRY_URL }, { [SchemaType.AVRO]: { typeHook } });

const brokers = KAFKA_BROKERS.split(',');
const kafka = new Kafka({ clientId: 'my-service', brokers, logLevel: logLevel.WARN });
const consumer = kafka.consumer({ groupId: process.env['CONSUMER_GROUP'] ?? 'my-service' });
const seen = new Set<string>(); // in your database, with a unique key, in the transaction of your work

await consumer.connect();
await consumer.subscribe({ topics: [`${TOPIC_PREFIX}payouts.events.v1`], fromBeginning: true });
await consumer.run({
  // The offset is committed after this; if it throws, the message comes again.
  eachMessage: async ({ message: { headers, value } }) => {
    const eventId = String(headers?.['event-id']);
    // New types of events may come: leave out what you don't know.
    if (value === null || String(headers?.['event-type']) !== 'pesewa.payouts.PayoutCompleted') return;
    if (seen.has(eventId)) return;
    const event = (await registry.decode(value)) as { merchantReference: string; amount: bigint };
    console.log(event.merchantReference, String(event.amount));
    seen.add(eventId);
  },
});

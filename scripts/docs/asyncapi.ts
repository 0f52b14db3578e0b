import {
  type AvroRecord,
  allSchemas,
  type DeclaredMessaging,
  fullName,
  messagingServices,
  services,
  subjectOf,
  type Topic,
  type TopicName,
  topics,
} from '@pesewa/contracts';
import { messageHeaders, messageParts } from './message-format.ts';

const BINDING = '0.5.0';
const AVRO = 'application/vnd.apache.avro+json;version=1.9.0';
const DAY_MS = 86_400_000;

const refTo = (...path: readonly string[]) => ({ $ref: `#/${path.join('/')}` });

const message = (topic: Topic, schema: AvroRecord) => ({
  name: fullName(schema),
  title: schema.name,
  summary: schema.doc,
  headers: refTo('components', 'schemas', 'headers'),
  payload: refTo('components', 'schemas', fullName(schema)),
  bindings: {
    kafka: {
      key: { type: 'string', description: topic.key },
      schemaIdLocation: 'payload',
      schemaIdPayloadEncoding: 'confluent',
      bindingVersion: BINDING,
    },
  },
  'x-registry-subject': subjectOf(topic.name, schema),
});

const channel = (topic: Topic) => ({
  address: topic.name,
  messages: Object.fromEntries(topic.events.map((schema) => [schema.name, message(topic, schema)])),
  bindings: {
    kafka: {
      partitions: topic.partitions,
      topicConfiguration:
        topic.cleanup === 'compact'
          ? { 'cleanup.policy': ['compact'] }
          : { 'cleanup.policy': ['delete'], 'retention.ms': topic.retentionDays * DAY_MS },
      bindingVersion: BINDING,
    },
  },
});

/** What a service does on topics, one operation for each. */
const operationsOf = (service: (typeof messagingServices)[number]) => {
  const uses: DeclaredMessaging = services[service].messaging;
  const on = (topics: readonly TopicName[], does: string, action: string, more: object = {}) =>
    topics.map(
      (topic) =>
        [
          `${service}.${does}.${topic}`,
          { action, channel: refTo('channels', topic), tags: [{ name: service }], ...more },
        ] as const,
    );
  const inGroup = { groupId: { type: 'string', enum: [service] }, bindingVersion: BINDING };
  return [
    ...on(uses.produces, 'sends', 'send'),
    ...on(uses.consumes, 'receives', 'receive', { bindings: { kafka: inGroup } }),
    ...on(uses.readsOutsideGroup, 'reads', 'receive', { summary: 'Read without a consumer group.' }),
  ];
};

const headers = {
  type: 'object',
  required: messageHeaders.filter(({ isOptional }) => isOptional !== true).map(({ name }) => name),
  properties: Object.fromEntries(
    messageHeaders.map(({ name, pattern, meaning }) => [
      name,
      { type: 'string', pattern, description: meaning },
    ]),
  ),
};

/** Every topic, its messages, and the services that send and receive them, as an AsyncAPI 3.0 document. */
export const createAsyncApiDocument = () => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Pesewa events',
    version: '1.0.0',
    description: messageParts.map(({ name, meaning }) => `- **${name}**: ${meaning}\n`).join(''),
  },
  defaultContentType: 'application/vnd.apache.avro',
  channels: Object.fromEntries(Object.entries<Topic>(topics).map(([name, topic]) => [name, channel(topic)])),
  operations: Object.fromEntries(messagingServices.flatMap(operationsOf)),
  components: {
    schemas: {
      headers,
      ...Object.fromEntries(allSchemas().map((schema) => [fullName(schema), { schemaFormat: AVRO, schema }])),
    },
  },
});

/** Builds `docs/events.asyncapi.json`. */
export const renderAsyncApi = (): string => `${JSON.stringify(createAsyncApiDocument(), null, 2)}\n`;

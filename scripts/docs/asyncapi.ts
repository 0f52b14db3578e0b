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

const tagged = (service: string) => ({ tags: [{ name: service }] });

const sends = (service: string, topic: string) => ({
  action: 'send',
  channel: refTo('channels', topic),
  ...tagged(service),
});

const receives = (service: string, topic: TopicName) => ({
  action: 'receive',
  channel: refTo('channels', topic),
  ...tagged(service),
  bindings: { kafka: { groupId: { type: 'string', enum: [service] }, bindingVersion: BINDING } },
});

const readsOutsideGroup = (service: string, topic: TopicName) => ({
  action: 'receive',
  summary: 'Read without a consumer group.',
  channel: refTo('channels', topic),
  ...tagged(service),
});

const operationsOf = (service: (typeof messagingServices)[number]) => {
  const uses: DeclaredMessaging = services[service].messaging;
  return [
    ...uses.produces.map((topic) => [`${service}.sends.${topic}`, sends(service, topic)] as const),
    ...uses.consumes.map((topic) => [`${service}.receives.${topic}`, receives(service, topic)] as const),
    ...uses.readsOutsideGroup.map(
      (topic) => [`${service}.reads.${topic}`, readsOutsideGroup(service, topic)] as const,
    ),
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

const payload = (schema: AvroRecord) => [fullName(schema), { schemaFormat: AVRO, schema }] as const;

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
      ...Object.fromEntries(allSchemas().map(payload)),
    },
  },
});

/** Builds `docs/events.asyncapi.json`. */
export const renderAsyncApi = (): string => `${JSON.stringify(createAsyncApiDocument(), null, 2)}\n`;

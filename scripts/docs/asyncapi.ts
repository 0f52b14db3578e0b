import { type AvroRecord, allSchemas, fullName, subjectOf, type Topic, topics } from '@pesewa/contracts';

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

const text = (pattern: string) => ({ type: 'string', pattern });

const headers = {
  type: 'object',
  required: ['event-id', 'event-type', 'aggregate-version', 'traceparent'],
  properties: {
    'event-id': text('.+'),
    'event-type': text('^pesewa\\.[a-z]+\\.[A-Za-z]+$'),
    'aggregate-version': text('^[0-9]+$'),
    traceparent: text('^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
    'causation-id': text('.+'),
  },
};

/** Every topic and its messages as an AsyncAPI 3.0 document. */
export const createAsyncApiDocument = () => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Pesewa events',
    version: '1.0.0',
    description: 'docs/events.md says what keys, headers, amounts and times mean.',
  },
  defaultContentType: 'application/vnd.apache.avro',
  channels: Object.fromEntries(Object.entries<Topic>(topics).map(([name, topic]) => [name, channel(topic)])),
  components: {
    schemas: {
      headers,
      ...Object.fromEntries(allSchemas().map((schema) => [fullName(schema), { schemaFormat: AVRO, schema }])),
    },
  },
});

/** Builds `docs/events.asyncapi.json`. */
export const renderAsyncApi = (): string => `${JSON.stringify(createAsyncApiDocument(), null, 2)}\n`;

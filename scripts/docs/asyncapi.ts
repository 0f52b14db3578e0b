import { allSchemas, fullName, subjectOf, type Topic, topics } from '@pesewa/contracts';

const BINDING = { bindingVersion: '0.5.0' };
const AVRO = 'application/vnd.apache.avro+json;version=1.9.0';
const DAY_MS = 86_400_000;

const text = (pattern: string) => ({ type: 'string', pattern });
const HEADERS = {
  'event-id': text('.+'),
  'event-type': text('^pesewa\\.[a-z]+\\.[A-Za-z]+$'),
  'aggregate-version': text('^[0-9]+$'),
  traceparent: text('^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
};

const schemaOf = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const channelOf = (topic: Topic) => ({
  address: topic.name,
  messages: Object.fromEntries(
    topic.events.map((schema) => {
      const key = { type: 'string', description: topic.key };
      const registry = { schemaIdLocation: 'payload', schemaIdPayloadEncoding: 'confluent' };
      const message = {
        name: fullName(schema),
        title: schema.name,
        summary: schema.doc,
        headers: schemaOf('headers'),
        payload: schemaOf(fullName(schema)),
        bindings: { kafka: { key, ...registry, ...BINDING } },
        'x-registry-subject': subjectOf(topic.name, schema),
      };
      return [schema.name, message];
    }),
  ),
  bindings: {
    kafka: {
      partitions: topic.partitions,
      topicConfiguration: {
        'cleanup.policy': [topic.cleanup],
        ...(topic.cleanup === 'delete' && { 'retention.ms': topic.retentionDays * DAY_MS }),
      },
      ...BINDING,
    },
  },
});

/** Every topic and its messages as an AsyncAPI 3.0 document. */
export const createAsyncApiDocument = () => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Pesewa events',
    version: '1.0.0',
    description: 'docs/events.md says what keys, headers, amounts and times mean.',
  },
  defaultContentType: 'application/vnd.apache.avro',
  channels: Object.fromEntries(
    Object.entries<Topic>(topics).map(([name, topic]) => [name, channelOf(topic)]),
  ),
  components: {
    schemas: {
      headers: {
        type: 'object',
        required: Object.keys(HEADERS),
        properties: { ...HEADERS, 'causation-id': text('.+') },
      },
      ...Object.fromEntries(allSchemas().map((schema) => [fullName(schema), { schemaFormat: AVRO, schema }])),
    },
  },
});

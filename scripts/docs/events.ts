import {
  type AvroField,
  type AvroRecord,
  type AvroSchema,
  fullName,
  parkedTopic,
  subjectOf,
  type Topic,
  topics,
} from '@pesewa/contracts';
import { renderTable } from './markdown.ts';

const describeType = (schema: AvroSchema): string => {
  if (typeof schema === 'string') return schema;
  if ('type' in schema) {
    return schema.type === 'enum'
      ? `enum: ${schema.symbols.join(', ')}`
      : `array of ${describeType(schema.items)}`;
  }
  return schema.map(describeType).join(' or ');
};

const describeField = (field: AvroField): readonly string[] => [
  `\`${field.name}\``,
  describeType(field.type),
  field.default === undefined ? '' : `\`${String(field.default)}\``,
  field.doc ?? '',
];

const renderEvent = (topicName: string, schema: AvroRecord): string =>
  [
    `### ${fullName(schema)}\n\n${schema.doc}\n\n`,
    `Subject: \`${subjectOf(topicName, schema)}\`\n\n`,
    renderTable(['Field', 'Type', 'Default', 'Meaning'], schema.fields.map(describeField)),
  ].join('');

const renderTopic = (topic: Topic): string => {
  const kept =
    topic.cleanup === 'compact'
      ? 'the newest message of every key is kept (compact)'
      : `messages are kept ${topic.retentionDays} days (delete)`;
  const about = `Key: ${topic.key}. ${topic.partitions} partition${topic.partitions === 1 ? '' : 's'}; ${kept}.`;
  return [
    `## ${topic.name}\n\n${about}\n`,
    ...topic.events.map((schema) => renderEvent(topic.name, schema)),
  ].join('\n');
};

const introduction = `# Events

Generated from \`packages/contracts/src/events\` by \`npm run docs\`; changes by hand are lost.

Values are Avro in the wire format of the Confluent registry: a zero byte, four bytes of schema id, the record. Every
subject is FULL_TRANSITIVE, so a field may only be added or dropped where it has a default. Amounts are whole minor units
of the event's currency; times are milliseconds since the epoch, UTC. Partition counts never change.

Every message has the headers \`event-id\`, \`event-type\` (the full record name), \`aggregate-version\` (of the payment;
on ledger.events and wallets.balances the wallet's sequence) and, where another event caused it, \`causation-id\`.
Delivery is at least once: drop what you have seen by \`event-id\`.
`;

/** Builds \`docs/events.md\`: every topic with its events and their fields. */
export const renderEvents = (): string => {
  const all: readonly Topic[] = [...Object.values(topics), parkedTopic('<consumer group>')];
  const overview = renderTable(
    ['Topic', 'Key', 'Partitions', 'Clean-up', 'Events'],
    all.map((topic) => [
      `\`${topic.name}\``,
      topic.key,
      String(topic.partitions),
      topic.cleanup === 'compact' ? 'compact' : `delete, ${topic.retentionDays} d`,
      topic.events.map(({ name }) => name).join(', '),
    ]),
  );
  return [introduction, overview, ...all.map(renderTopic)].join('\n');
};

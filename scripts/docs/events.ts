import {
  type AvroField,
  type AvroRecord,
  type AvroSchema,
  type EventCause,
  type EventType,
  eventCauses,
  eventIdentities,
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

const describeIdentity = (type: EventType): string => {
  const identity = eventIdentities[type];
  if (identity === 'own') return 'its own: that of the command which it carries';
  return identity.map((name) => (name === 'version' ? 'the version' : `\`${name}\``)).join(', ');
};

const causeNames: Partial<Record<EventCause, string>> = {
  request: 'a request from outside',
  time: 'a time at which we look for ourselves',
  message: 'the event that it is about',
};

const describeCauses = (type: EventType): string => {
  const causes: readonly EventCause[] = eventCauses[type];
  return causes.map((cause) => causeNames[cause] ?? cause.slice(cause.lastIndexOf('.') + 1)).join(', ');
};

const renderOrigin = (type: EventType): string =>
  `Id from: ${describeIdentity(type)}. Cause: ${describeCauses(type)}.\n\n`;

const renderEvent = (topicName: string, schema: AvroRecord): string =>
  [
    `### ${fullName(schema)}\n\n${schema.doc}\n\n`,
    `Subject: \`${subjectOf(topicName, schema)}\`\n\n`,
    renderOrigin(fullName(schema) as EventType),
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

Every message has these headers:

- \`event-id\`: derived from the event's type and from what is named with it here, so that the same thing published again is the
  same event, even by a service that was restored from a backup. Delivery is at least once: drop what you have seen by it.
- \`event-type\`: the full record name.
- \`aggregate-version\`: of the payment; on ledger.events and wallets.balances the wallet's sequence, on
  reconciliation.events the break's version; else 0. It says which of two events is newer: what one process commits comes in
  its order, and after a crash another one may be ahead of it.
- \`traceparent\` of [W3C Trace Context](https://www.w3.org/TR/trace-context/): that of the merchant's request for everything
  about its payment, where the request had one; a new trace otherwise.
- \`causation-id\`: the \`event-id\` of the event that caused it. It is missing only where the cause was a request from outside,
  or a time at which we look for ourselves.
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

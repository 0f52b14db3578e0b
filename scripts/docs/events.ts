import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  type AvroField,
  type AvroRecord,
  type AvroSchema,
  type DeclaredMessaging,
  type EventCause,
  type EventType,
  eventCauses,
  eventIdentities,
  fullName,
  messagingServices,
  parkedTopic,
  services,
  type Topic,
  topics,
} from '@pesewa/contracts';
import { repositoryRoot } from '../command.ts';
import { renderTable } from './markdown.ts';
import { messageHeaders, messageParts } from './message-format.ts';

const PARKED_BY = '<consumer group>';
/** In how many events a field stands before it is explained once for all. */
const COMMON_MIN = 5;

const describeType = (schema: AvroSchema): string => {
  if (typeof schema === 'string') return schema;
  if ('type' in schema) {
    return schema.type === 'enum'
      ? `enum: ${schema.symbols.join(', ')}`
      : `array of ${describeType(schema.items)}`;
  }
  return schema.map(describeType).join(' or ');
};

const defaultOf = ({ default: value }: AvroField): string | undefined => {
  if (value === undefined) return undefined;
  return value === '' ? 'default: empty' : `default: \`${String(value)}\``;
};

const describeField = (field: AvroField): readonly string[] => [
  `\`${field.name}\``,
  describeType(field.type),
  [field.doc, defaultOf(field)].filter((part) => part !== undefined).join('; '),
];

const HEADING = ['Field', 'Type', 'Meaning'];
const allTopics: readonly Topic[] = [...Object.values(topics), parkedTopic(PARKED_BY)];

/** The fields that stand in many events in the same way; they are explained once, by their most frequent description. */
const commonFields: readonly AvroField[] = (() => {
  const described = allTopics
    .flatMap(({ events }) => events.flatMap(({ fields }) => fields))
    .filter(({ doc }) => doc !== undefined);
  const groups = Map.groupBy(described, (field) => describeField(field).join('|'));
  const frequent = [...groups.values()]
    .filter((same) => same.length >= COMMON_MIN)
    .toSorted((one, other) => one.length - other.length)
    .flatMap((same) => same.slice(0, 1));
  // A later one of a name replaces an earlier one.
  return [...new Map(frequent.map((field) => [field.name, field])).values()].toReversed();
})();

/** Whether a field is one of {@link commonFields}, and described as they are. */
const isCommon = (field: AvroField): boolean =>
  commonFields.some((common) => describeField(common).join() === describeField(field).join());

const renderFields = (fields: readonly AvroField[]): string => {
  const common = fields.filter(isCommon).map(({ name }) => `\`${name}\``);
  const own = fields.filter((field) => !isCommon(field)).map(describeField);
  return [
    ...(common.length > 0 ? [`As above: ${common.join(', ')}.\n`] : []),
    ...(own.length > 0 ? [renderTable(HEADING, own)] : []),
  ].join('\n');
};

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

const renderEvent = (schema: AvroRecord): string =>
  [
    `### ${fullName(schema)}\n\n${schema.doc}\n\n`,
    renderOrigin(fullName(schema) as EventType),
    renderFields(schema.fields),
  ].join('');

const usersOf = (topic: Topic, use: 'produces' | 'consumes'): string => {
  const users = messagingServices.filter((service) =>
    (services[service].messaging as DeclaredMessaging)[use].some((name) => topics[name] === topic),
  );
  return users.join(', ') || 'none of our services';
};

const renderUsers = (topic: Topic): string =>
  topic.name.startsWith(PARKED_BY)
    ? 'Sent by the service of the consumer group'
    : `Sent by ${usersOf(topic, 'produces')}; received by ${usersOf(topic, 'consumes')}`;

const renderTopic = (topic: Topic): string =>
  [`## ${topic.name}\n\n${renderUsers(topic)}.\n`, ...topic.events.map(renderEvent)].join('\n');

const introduction = `# Events

Generated from \`packages/contracts/src/events\` by \`npm run docs\`; changes by hand are lost.

The same for programs is in [events.asyncapi.json](events.asyncapi.json), an [AsyncAPI](https://www.asyncapi.com) 3.0
document; [at the end](#a-consumer) is a consumer to begin with.

${renderTable(
  ['Part', 'What it is'],
  messageParts.map(({ name, meaning }) => [name, meaning]),
)}
Every message has these headers, whose values are UTF-8 text:

${renderTable(
  ['Header', 'Meaning'],
  messageHeaders.map(({ name, meaning }) => [`\`${name}\``, meaning]),
)}`;

const commonSection = (): string =>
  `## Fields of many events

These mean the same wherever they stand.

${renderTable(HEADING, commonFields.map(describeField))}`;

const sampleOf = (language: string, file: string): string =>
  `\`\`\`${language}\n${readFileSync(path.join(repositoryRoot, 'test', 'samples', file), 'utf8')}\`\`\`\n`;

const renderConsumer = (): string => `## A consumer

These print each completed payout once. They are \`test/samples\`, which tests run. In TypeScript, with \`kafkajs\`,
\`@kafkajs/confluent-schema-registry\` and \`avsc\`:

${sampleOf('ts', 'consume.ts')}
In Python, with \`confluent-kafka\` and \`fastavro\`:

${sampleOf('python', 'consume.py')}`;

/** Builds \`docs/events.md\`: every topic with its events and their fields, and a consumer. */
export const renderEvents = (): string => {
  const overview = renderTable(
    ['Topic', 'Key', 'Partitions', 'Clean-up', 'Events'],
    allTopics.map((topic) => [
      `\`${topic.name}\``,
      topic.key,
      String(topic.partitions),
      topic.cleanup === 'compact' ? 'compact' : `delete, ${topic.retentionDays} d`,
      topic.events.map(({ name }) => name).join(', '),
    ]),
  );
  return [introduction, overview, commonSection(), ...allTopics.map(renderTopic), renderConsumer()].join(
    '\n',
  );
};

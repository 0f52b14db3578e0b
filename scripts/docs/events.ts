import {
  type AvroField,
  type AvroRecord,
  type AvroSchema,
  type DeclaredMessaging,
  type EventCause,
  type EventType,
  eventCauses,
  fullName,
  messagingServices,
  services,
  type Topic,
  topics,
} from '@pesewa/contracts';
import { renderTable } from './markdown.ts';

/** In how many events a field stands before it is explained once for all. */
const COMMON_MIN = 3;

const describeType = (schema: AvroSchema): string => {
  if (typeof schema === 'string') return schema;
  if ('type' in schema) {
    return schema.type === 'enum'
      ? `enum: ${schema.symbols.join(', ')}`
      : `array of ${describeType(schema.items)}`;
  }
  return schema.map(describeType).join(' or ');
};

/** The default of a field; null is left out, because the document says it of all fields. */
const describeDefault = ({ default: value }: AvroField): string => {
  if (value === undefined || value === null) return '';
  return value === '' ? ', default empty' : `, default \`${String(value)}\``;
};

const describeField = (field: AvroField): string => {
  const meaning = field.doc === undefined ? '' : `: ${field.doc}`;
  return `\`${field.name}\` (${describeType(field.type)}${describeDefault(field)})${meaning}`;
};

const listItem = (field: AvroField): string => `- ${describeField(field)}\n`;

const allTopics: readonly Topic[] = Object.values(topics);
const allEvents: readonly AvroRecord[] = [...new Set(allTopics.flatMap(({ events }) => events))];

/** The fields that many events describe in the same way; they are explained once, as most events describe them. */
const commonFields: readonly AvroField[] = (() => {
  const described = allEvents.flatMap(({ fields }) => fields).filter(({ doc }) => doc !== undefined);
  const frequent = [...Map.groupBy(described, describeField).values()]
    .filter((same) => same.length >= COMMON_MIN)
    .toSorted((one, other) => one.length - other.length)
    .flatMap((same) => same.slice(0, 1));
  // A later one of a name replaces an earlier one.
  const byName = new Map(frequent.map((field) => [field.name, field]));
  return [...byName.values()].toSorted((one, other) => one.name.localeCompare(other.name));
})();

const has = (fields: readonly AvroField[], field: AvroField): boolean =>
  fields.some((one) => describeField(one) === describeField(field));

/** The fields of every event; they are not named again with each. */
const fieldsOfAll = commonFields.filter((field) => allEvents.every(({ fields }) => has(fields, field)));

const listNames = (fields: readonly AvroField[]): string =>
  fields.map(({ name }) => `\`${name}\``).join(', ');

const renderFields = (fields: readonly AvroField[]): string => {
  const common = fields.filter((field) => has(commonFields, field) && !has(fieldsOfAll, field));
  const own = fields.filter((field) => !has(commonFields, field)).map(listItem);
  return [
    ...(common.length > 0 ? [`\nFields: ${listNames(common)}${own.length > 0 ? ', and:' : '.'}\n`] : []),
    ...(own.length > 0 ? ['\n', ...own] : []),
  ].join('');
};

const shortName = (type: string): string => type.slice(type.lastIndexOf('.') + 1);

/** The causes of an event; a topic stands for its events where each of them may be the cause. */
const describeCauses = (type: EventType): string => {
  const causes: readonly EventCause[] = eventCauses[type];
  const isCause = (event: AvroRecord): boolean => causes.includes(fullName(event) as EventType);
  const whole = allTopics.filter(({ events }) => events.length > 1 && events.every(isCause));
  const covered = new Set<string>(whole.flatMap(({ events }) => events.map(fullName)));
  return [
    ...whole.map(({ name }) => `any event of ${name}`),
    ...causes.filter((cause) => !covered.has(cause)).map(shortName),
  ].join(', ');
};

const renderEvent = (schema: AvroRecord): string => {
  const type = fullName(schema) as EventType;
  return `### ${type}\n\n${schema.doc}\n\nCause: ${describeCauses(type)}.\n${renderFields(schema.fields)}`;
};

const usersOf = (topic: Topic, use: 'produces' | 'consumes'): string => {
  const users = messagingServices.filter((service) =>
    (services[service].messaging as DeclaredMessaging)[use].some((name) => topics[name] === topic),
  );
  return users.join(', ') || '–';
};

/** A topic's events; one that an earlier topic carries too is explained there. */
const renderTopic = (topic: Topic, index: number): string => {
  const earlier = new Set(allTopics.slice(0, index).flatMap(({ events }) => events));
  const again = topic.events.filter((event) => earlier.has(event)).map(({ name }) => name);
  return [
    `## ${topic.name}\n`,
    ...(again.length > 0 ? [`It also carries ${again.join(' and ')}, as described above.\n`] : []),
    ...topic.events.filter((event) => !earlier.has(event)).map(renderEvent),
  ].join('\n');
};

const renderOverview = (): string =>
  renderTable(
    ['Topic', 'Key', 'Partitions', 'Kept', 'From', 'To'],
    allTopics.map((topic) => [
      `\`${topic.name}\``,
      topic.key,
      String(topic.partitions),
      topic.cleanup === 'compact' ? 'compacted' : `${topic.retentionDays} d`,
      usersOf(topic, 'produces'),
      usersOf(topic, 'consumes'),
    ]),
  );

const renderCommonFields =
  (): string => `These fields are in many events. Each event names those that it has, except ${listNames(fieldsOfAll)}: every event has them.

${commonFields.map(listItem).join('')}`;

/** The generated parts of `docs/events.md`: every topic, and every event with its fields. */
export const renderEvents = (): Readonly<Record<'topics' | 'events', string>> => ({
  topics: renderOverview(),
  events: [renderCommonFields(), ...allTopics.map(renderTopic)].join('\n'),
});

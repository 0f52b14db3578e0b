import { type AvroRecord, fullName, type TopicEvent, type TopicName, topics } from '@pesewa/contracts';

/** Every type of a topic as ignored: a test's consumer names what it handles on top of it. */
export function ignoringAll<Name extends TopicName>(
  topic: Name,
): Record<TopicEvent<Name>['type'], 'ignored'> {
  const events: readonly AvroRecord[] = topics[topic].events;
  const entries = events.map((event) => [fullName(event), 'ignored'] as const);
  return Object.fromEntries(entries) as Record<TopicEvent<Name>['type'], 'ignored'>;
}

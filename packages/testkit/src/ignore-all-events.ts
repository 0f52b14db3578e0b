import { type AvroRecord, fullName, type TopicEvent, type TopicName, topics } from '@pesewa/contracts';

/** A handling that ignores every type of a topic; a test's consumer overrides the types that it handles. */
export function ignoreAllEvents<Name extends TopicName>(
  topic: Name,
): Record<TopicEvent<Name>['type'], 'ignored'> {
  const events: readonly AvroRecord[] = topics[topic].events;
  const entries = events.map((event) => [fullName(event), 'ignored'] as const);
  return Object.fromEntries(entries) as Record<TopicEvent<Name>['type'], 'ignored'>;
}

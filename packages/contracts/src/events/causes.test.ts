import { expect, test } from 'vitest';
import { allSchemas, fullName } from '../index.ts';
import { type EventCause, eventCauses, mayLackCause } from './causes.ts';
import type { EventType } from './identities.ts';

const published = allSchemas().map(fullName);

test('every event says what causes it: events that there are, a request or a time', () => {
  expect(Object.keys(eventCauses).toSorted()).toEqual(published.toSorted());
  for (const causes of Object.values<readonly EventCause[]>(eventCauses)) {
    expect(causes.length).toBeGreaterThan(0);
    expect(new Set(causes).size).toBe(causes.length);
    expect([...published, 'request', 'time', 'message']).toEqual(expect.arrayContaining([...causes]));
  }
});

test('every chain of causes begins with a request or a time', () => {
  const begins = (type: EventType, before: readonly EventType[]): boolean =>
    mayLackCause(type) ||
    (eventCauses[type] as readonly EventType[]).some(
      (cause) => !before.includes(cause) && begins(cause, [...before, type]),
    );
  for (const type of Object.keys(eventCauses) as EventType[])
    expect([type, begins(type, [])]).toEqual([type, true]);
});

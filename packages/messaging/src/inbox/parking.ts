import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { ClientSession } from 'mongodb';
import { keepMessage, type ParkedStore } from './parked-store.ts';
import { headerOf, type Reading } from './topic-handler.ts';

/** The dependencies of parking. */
export interface ParkingDeps {
  readonly parkedStore: Pick<ParkedStore, 'add'>;
  readonly group: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts a parked message. */
  readonly parked: (topic: string) => void;
}

const eventTypeOf = (reading: Reading): string => headerOf(reading.message, 'event-type');

/** Why a handler's failure parks a message. Only the error's name, because its message may contain values. */
export function describeFailure(error: unknown): string {
  return `the handler failed: ${error instanceof Error ? error.name : 'unknown'}`;
}

/** The id of the event that a message was read as; empty if it could not be read. */
function eventIdOfReading(reading: Reading): string {
  if (reading.kind === 'event') return reading.event.eventId;
  return (reading.kind === 'poison' && reading.eventId) || '';
}

/** Builds what puts the messages of one partition aside that can't be applied (ADR 8). */
export function createParking(deps: ParkingDeps, topicName: string, partition: number) {
  return {
    store: (reading: Reading, reason: string, session: ClientSession): Promise<void> =>
      deps.parkedStore.add(
        {
          id: `${deps.group}/${topicName}/${partition}/${reading.offset}`,
          topic: topicName,
          partition,
          offset: reading.offset,
          ...keepMessage(reading.message, eventIdOfReading(reading)),
          reason,
          parkedAt: new Date(deps.clock.nowMs()),
          state: 'parked',
          changes: 0,
        },
        session,
      ),
    /** Logs and counts the parked message, once that is committed. */
    report: (reading: Reading, reason: string): void => {
      deps.parked(topicName);
      const offset = reading.offset.toString();
      deps.logger.error(
        { topic: topicName, partition, offset, eventType: eventTypeOf(reading), reason },
        'message parked',
      );
    },
  };
}

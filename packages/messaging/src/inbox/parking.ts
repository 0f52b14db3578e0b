import { eventIdOf, parkedTopic } from '@pesewa/contracts';
import type { Clock, Ids } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { ClientSession } from 'mongodb';
import type { MessageEncoder } from '../outbox/message-encoder.ts';
import type { EncodedMessage } from '../outbox/outbox.ts';
import { keepMessage, type ParkedStore } from './parked-store.ts';
import { headerOf, type Reading } from './topic-handler.ts';

/** The dependencies of parking. */
export interface ParkingDeps {
  readonly encoder: MessageEncoder;
  readonly parkedStore: Pick<ParkedStore, 'add'>;
  readonly group: string;
  readonly topicPrefix: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Counts a parked message. */
  readonly parked: (topic: string) => void;
}

const TYPE = 'pesewa.messaging.MessageParked';

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

/** An unreadable message has neither a known cause nor a known trace. */
const originOf = (reading: Reading) =>
  reading.kind === 'event'
    ? { causationId: reading.event.eventId, traceparent: reading.event.traceparent }
    : { causationId: null };

/**
 * Builds what puts the messages of one partition aside that can't be applied: each is stored, and a pointer to its place
 * is published (ADR 8).
 */
export function createParking(deps: ParkingDeps, topicName: string, partition: number) {
  const topic = deps.topicPrefix + parkedTopic(deps.group).name;
  return {
    encodePointer: (reading: Reading, reason: string): EncodedMessage => {
      const key = reading.message.key?.toString() ?? '';
      const place = { consumerGroup: deps.group, topic: topicName, partition, offset: reading.offset };
      const eventId = eventIdOf({ type: TYPE, payload: place, version: 0n });
      return deps.encoder.message({
        topic,
        key,
        type: TYPE,
        headers: { eventId, version: 0n, ...originOf(reading) },
        payload: {
          eventId,
          occurredAt: BigInt(deps.clock.nowMs()),
          ...place,
          reason,
          eventType: eventTypeOf(reading),
        },
      });
    },
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
    /** Logs and counts the parked message, once the pointer is committed. */
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

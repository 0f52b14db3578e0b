import { parkedTopic } from '@pesewa/contracts';
import type { Clock, Ids } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { EncodedMessage } from './bundle.ts';
import type { MessageEncoder } from './message-encoder.ts';
import type { Reading } from './received.ts';

/** What parking needs to know of the consumer. */
export interface ParkingDeps {
  readonly encoder: MessageEncoder;
  readonly group: string;
  readonly topicPrefix: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Counts a parked message. */
  readonly parked: (topic: string) => void;
}

/** Puts messages that can't be applied aside: a pointer to where each lies, with the reason. */
export interface Parking {
  readonly message: (reading: Reading, reason: string) => EncodedMessage;
  /** Tells people, once the pointer is committed. */
  readonly announce: (reading: Reading, reason: string) => void;
}

const TYPE = 'pesewa.messaging.MessageParked';

const eventTypeOf = (reading: Reading): string =>
  reading.kind === 'event' ? reading.event.type : reading.eventType;

/** Builds the parking of one partition. */
export function createParking(deps: ParkingDeps, topicName: string, partition: number): Parking {
  const topic = deps.topicPrefix + parkedTopic(deps.group).name;
  return {
    message: (reading, reason) => {
      const eventId = deps.ids.next('ev');
      const key = reading.kind === 'event' ? reading.event.key : reading.key;
      return deps.encoder.message({
        topic,
        key,
        type: TYPE,
        headers: { eventId, version: 0n, causationId: null },
        payload: {
          eventId,
          occurredAt: BigInt(deps.clock.nowMs()),
          consumerGroup: deps.group,
          topic: topicName,
          partition,
          offset: reading.offset,
          reason,
          eventType: eventTypeOf(reading),
        },
      });
    },
    announce: (reading, reason) => {
      deps.parked(topicName);
      const offset = reading.offset.toString();
      deps.logger.error(
        { topic: topicName, partition, offset, eventType: eventTypeOf(reading), reason },
        'message parked',
      );
    },
  };
}

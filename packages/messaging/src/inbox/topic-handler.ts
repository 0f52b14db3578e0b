import { type AvroRecord, fullName, type TopicEvent, type TopicName, topics } from '@pesewa/contracts';
import type { KafkaMessage } from '@pesewa/kafka';
import type { Transaction } from '../outbox/outbox.ts';
import { type Codec, type Decoded, UndecodableError } from '../schemas/codec.ts';

/** Any event of any topic. */
export type AnyEvent = TopicEvent<TopicName>;

/** An event as a handler receives it. */
export type Received<Event> = Event & {
  readonly eventId: string;
  readonly version: bigint;
  readonly key: string;
  /** The trace of the event (W3C). */
  readonly traceparent?: string | undefined;
};

/** The transaction of a batch. In addition to emitting, a handler may park an event that it can never apply. */
export interface BatchTransaction extends Transaction {
  /**
   * The partition that the batch comes from. Nothing else writes at the same time what a handler keeps per topic and
   * partition.
   */
  readonly partition: number;
  /**
   * Parks the event at this index of the batch, with its reason; the batch goes on without it. By its index and not by
   * its id, because a batch may hold an event twice that was published again.
   */
  readonly park: (index: number, reason: string) => void;
  /** True on a rerun after a unique key was found taken: then the handler must read before it writes. */
  readonly isRetry: boolean;
}

/** What a service does with every type of a topic's events; events of an ignored type are not even decoded. */
export type EventHandling<Name extends TopicName> = Readonly<
  Record<TopicEvent<Name>['type'], 'handled' | 'ignored'>
>;

/** The events of the types that a handling names `'handled'`. */
export type HandledEvent<Name extends TopicName, Handling extends EventHandling<Name>> = Received<
  Extract<TopicEvent<Name>, { readonly type: HandledType<Handling> }>
>;

type HandledType<Handling> = {
  [Type in keyof Handling]: Handling[Type] extends 'handled' ? Type : never;
}[keyof Handling];

/** Refuses keys that are not types of the topic. */
type NoOthers<Name extends TopicName, Handling> = Readonly<
  Record<Exclude<keyof Handling, TopicEvent<Name>['type']>, never>
>;

/** Handles the events of one topic. A whole batch is one transaction, which may rerun. */
export interface TopicHandler {
  readonly topic: TopicName;
  /** The handled types. */
  readonly types: readonly string[];
  readonly handle: (events: readonly Received<AnyEvent>[], transaction: BatchTransaction) => Promise<void>;
  /**
   * Runs whenever a partition was taken over, after its position was found to fit and before anything of it is applied.
   * It is retried on any error but a `PartitionStoppedError`.
   */
  readonly beforePartition?: (partition: number) => Promise<void>;
}

/**
 * Declares a handler. It must list every type of the topic as handled or ignored, so that the compiler finds the
 * consumers that overlook a new event. The handler gets only events of the handled types, in order.
 */
export function handleTopic<Name extends TopicName, const Handling extends EventHandling<Name>>(
  topic: Name,
  handling: Handling & NoOthers<Name, Handling>,
  handle: (events: readonly HandledEvent<Name, Handling>[], transaction: BatchTransaction) => Promise<void>,
): TopicHandler {
  const types = Object.entries(handling).flatMap(([type, use]) => (use === 'handled' ? [type] : []));
  // Only events of these types are ever handed over (see readMessages), which the type can't express.
  return { topic, types, handle: handle as unknown as TopicHandler['handle'] };
}

/** A message that was read as an event, or why it is not applied. */
export type Reading = { readonly offset: bigint; readonly message: KafkaMessage } & (
  | { readonly kind: 'event'; readonly event: Received<AnyEvent> }
  /** `eventId` is set if the event could be read: an unreadable message is no event, whatever its headers say. */
  | { readonly kind: 'poison'; readonly reason: string; readonly eventId?: string }
  /** An event of a type that this version does not know; it waits for a version that does. */
  | { readonly kind: 'unknown'; readonly eventType: string }
);

/** The text of a message's header; empty if the header is missing. */
export function headerOf(message: Pick<KafkaMessage, 'headers'>, name: string): string {
  const value = message.headers?.[name];
  return value === undefined ? '' : Array.isArray(value) ? value.join(',') : value.toString();
}

const knownTypes = (name: TopicName): ReadonlySet<string> => {
  const events: readonly AvroRecord[] = topics[name].events;
  return new Set(events.map(fullName));
};

/** Reads the messages of a batch that the handler wants; the others are skipped by their header alone. */
export async function readMessages(
  messages: readonly KafkaMessage[],
  handler: TopicHandler,
  codec: Codec,
): Promise<readonly Reading[]> {
  const wanted = new Set<string>(handler.types);
  const known = knownTypes(handler.topic);
  const readings: Reading[] = [];
  for (const message of messages) {
    const eventType = headerOf(message, 'event-type');
    if (wanted.has(eventType)) {
      // Nearly every message can be read without waiting, and a promise per message would cost more than reading it.
      readings.push(
        readMessage(message, eventType, codec.decodeKnown) ?? (await readLater(message, eventType, codec)),
      );
    } else if (!known.has(eventType)) readings.push(readUnknown(message, eventType));
  }
  return readings;
}

function readUnknown(message: KafkaMessage, eventType: string): Reading {
  const offset = BigInt(message.offset);
  // All versions of ours write this header.
  if (eventType === '') return { kind: 'poison', offset, message, reason: 'no event-type header' };
  return { kind: 'unknown', offset, message, eventType };
}

/** Reads a message whose schema the registry must be asked for. */
async function readLater(message: KafkaMessage, eventType: string, codec: Codec): Promise<Reading> {
  const bytes = message.value ?? Buffer.alloc(0);
  const decode = await codec.decode(bytes).then(
    (decoded) => () => decoded,
    (error: unknown) => (): Decoded => {
      throw error;
    },
  );
  const reading = readMessage(message, eventType, decode);
  if (!reading) throw new Error('a message was read and yet is not');
  return reading;
}

function readMessage(
  message: KafkaMessage,
  eventType: string,
  decode: (bytes: Buffer) => Decoded | undefined,
): Reading | undefined {
  const offset = BigInt(message.offset);
  const poison = (reason: string): Reading => ({ kind: 'poison', offset, message, reason });
  if (!message.value) return poison('empty message');
  try {
    const decoded = decode(message.value);
    if (!decoded) return undefined;
    if (decoded.type !== eventType) return poison(`a ${decoded.type} under the header of a ${eventType}`);
    const { type, payload } = decoded as AnyEvent;
    const eventId = headerOf(message, 'event-id') || payload.eventId;
    const version = versionOf(headerOf(message, 'aggregate-version'));
    const key = message.key?.toString() ?? '';
    // The event is built in one step; spreading would cost another object per message.
    const traceparent = headerOf(message, 'traceparent') || undefined;
    const event = { type, payload, eventId, version, key, traceparent } as Received<AnyEvent>;
    return { kind: 'event', offset, message, event };
  } catch (error) {
    if (error instanceof UndecodableError) return poison(error.message);
    throw error;
  }
}

function versionOf(text: string): bigint {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : 0n;
}

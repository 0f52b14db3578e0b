import { type AvroRecord, fullName, type TopicEvent, type TopicName, topics } from '@pesewa/contracts';
import type { KafkaMessage } from 'kafkajs';
import { type Codec, type Decoded, UndecodableError } from './codec.ts';
import type { Transaction } from './outbox.ts';

/** Any event of any topic. */
export type AnyEvent = TopicEvent<TopicName>;

/** An event as a handler gets it. */
export type Received<Event> = Event & {
  readonly eventId: string;
  readonly version: bigint;
  readonly key: string;
};

/** The transaction of a chunk: besides emitting, a handler may park an event that it can never apply. */
export interface ChunkTransaction extends Transaction {
  /** The partition that the chunk comes from: with the topic, the one writer of whatever is kept per partition. */
  readonly partition: number;
  /** Puts the event aside with its reason; the chunk goes on without it. */
  readonly park: (eventId: string, reason: string) => void;
  /** True when run again because a unique key was found taken: then look before writing. */
  readonly careful: boolean;
}

/** What a service does with the events of one topic; the whole chunk is one transaction, which may rerun. */
export interface TopicHandler {
  readonly topic: TopicName;
  /** The types that are handled; every other one is ignored, undecoded. */
  readonly types: readonly string[];
  readonly handle: (events: readonly Received<AnyEvent>[], transaction: ChunkTransaction) => Promise<void>;
}

/** Declares a handler, with the events narrowed to the types it names. */
export function handleTopic<Name extends TopicName, Type extends TopicEvent<Name>['type']>(
  topic: Name,
  types: readonly Type[],
  handle: (
    events: readonly Received<Extract<TopicEvent<Name>, { readonly type: Type }>>[],
    transaction: ChunkTransaction,
  ) => Promise<void>,
): TopicHandler {
  // Only events of the named types are ever handed over (see readMessages), which the wide type can't say.
  return { topic, types, handle: handle as unknown as TopicHandler['handle'] };
}

/** A message that was read, or the reason why it can't be. */
export type Reading =
  | { readonly kind: 'event'; readonly offset: bigint; readonly event: Received<AnyEvent> }
  | {
      readonly kind: 'poison';
      readonly offset: bigint;
      readonly reason: string;
      readonly eventType: string;
      readonly key: string;
    };

const header = (message: KafkaMessage, name: string): string => {
  const value = message.headers?.[name];
  return value === undefined ? '' : Array.isArray(value) ? value.join(',') : value.toString();
};

const knownTypes = (name: TopicName): ReadonlySet<string> => {
  const events: readonly AvroRecord[] = topics[name].events;
  return new Set(events.map(fullName));
};

/** Reads the messages of a chunk that the handler wants; what it doesn't want is skipped by its header alone. */
export async function readMessages(
  messages: readonly KafkaMessage[],
  handler: TopicHandler,
  codec: Codec,
): Promise<readonly Reading[]> {
  const wanted = new Set<string>(handler.types);
  const known = knownTypes(handler.topic);
  const readings: Reading[] = [];
  for (const message of messages) {
    const eventType = header(message, 'event-type');
    // A type of the contracts that this handler doesn't name is someone else's; an unnamed one may hide anything.
    if (!wanted.has(eventType) && known.has(eventType)) continue;
    // Almost always at once: a promise for each message costs more than reading it.
    const reading = readMessage(message, eventType, wanted, codec.decodeKnown);
    readings.push(reading ?? (await readLater(message, eventType, wanted, codec)));
  }
  return readings;
}

/** Reads a message whose schema the registry must be asked for. */
async function readLater(
  message: KafkaMessage,
  eventType: string,
  wanted: ReadonlySet<string>,
  codec: Codec,
): Promise<Reading> {
  const bytes = message.value ?? Buffer.alloc(0);
  const decode = await codec.decode(bytes).then(
    (decoded) => () => decoded,
    (error: unknown) => (): Decoded => {
      throw error;
    },
  );
  const reading = readMessage(message, eventType, wanted, decode);
  if (!reading) throw new Error('a message was read and yet is not');
  return reading;
}

function readMessage(
  message: KafkaMessage,
  eventType: string,
  wanted: ReadonlySet<string>,
  decode: (bytes: Buffer) => Decoded | undefined,
): Reading | undefined {
  const offset = BigInt(message.offset);
  const key = message.key?.toString() ?? '';
  const poison = (reason: string): Reading => ({ kind: 'poison', offset, reason, eventType, key });
  if (!message.value) return poison('empty message');
  try {
    const decoded = decode(message.value);
    if (!decoded) return undefined;
    if (!wanted.has(decoded.type)) return poison(`unknown event type ${decoded.type || eventType}`);
    const { type, payload } = decoded as AnyEvent;
    const eventId = header(message, 'event-id') || payload.eventId;
    const version = versionOf(header(message, 'aggregate-version'));
    // One event of one type, which spreading would say at the price of another object.
    const event = { type, payload, eventId, version, key } as Received<AnyEvent>;
    return { kind: 'event', offset, event };
  } catch (error) {
    if (error instanceof UndecodableError) return poison(error.message);
    throw error;
  }
}

function versionOf(text: string): bigint {
  return /^\d{1,18}$/.test(text) ? BigInt(text) : 0n;
}

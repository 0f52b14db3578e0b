import { topics } from '@pesewa/contracts';
import { varIntSize, writeText, writeVarInt } from '@pesewa/kafka';
import type { Codec } from '../schemas/codec.ts';
import { type EncodedMessage, idOf, type OutgoingEvent } from './outbox.ts';

/** The parts of a message. */
interface MessageInput {
  /** The topic's name, with the prefix. */
  readonly topic: string;
  readonly key: string;
  /** The full name of the record. */
  readonly type: string;
  readonly payload: unknown;
  readonly headers: {
    readonly eventId: string;
    readonly version: bigint;
    readonly causationId: string | null;
    /** The trace of the message; a new one begins if it is left out. */
    readonly traceparent?: string | undefined;
  };
}

/** Encodes messages as Kafka will store them: key, value and headers (ADR 38), each byte written once. */
export type MessageEncoder = ReturnType<typeof createMessageEncoder>;

/** Many messages share one slab of memory, which is freed when the last of them is. */
const SLAB_BYTES = 65_536;
/** More than a record takes in addition to its texts and its value. */
const FRAME_BYTES = 160;
/** The bytes that a value's length takes in most cases. */
const LENGTH_BYTES = 2;

/** The name of a header with its length, as bytes to copy. */
function nameBytes(name: string): Buffer {
  const bytes = Buffer.allocUnsafe(varIntSize(name.length) + name.length);
  writeText(bytes, name, name.length, writeVarInt(bytes, name.length, 0));
  return bytes;
}

const EVENT_ID = nameBytes('event-id');
const EVENT_TYPE = nameBytes('event-type');
const VERSION = nameBytes('aggregate-version');
const CAUSATION_ID = nameBytes('causation-id');
const TRACEPARENT = nameBytes('traceparent');

function writeSized(target: Buffer, text: string, offset: number): number {
  const length = Buffer.byteLength(text);
  return writeText(target, text, length, writeVarInt(target, length, offset));
}

function writeHeader(target: Buffer, name: Buffer, text: string, offset: number): number {
  target.set(name, offset);
  return writeSized(target, text, offset + name.length);
}

/** Builds a {@link MessageEncoder}; `beginTrace` gives the traceparent of a new trace. */
export function createMessageEncoder(codec: Codec, topicPrefix: string, beginTrace: () => string) {
  let slab = Buffer.alloc(0);
  let used = 0;

  /**
   * Writes a value with its length; gives the offset behind it or, as a negative number, how many bytes the slab is too
   * short.
   */
  function writeValue({ topic, type, payload }: MessageInput, offset: number): number {
    const start = offset + LENGTH_BYTES;
    const end = codec.encodeInto({ buffer: slab, offset: start }, topic, type, payload);
    if (end < 0) return end;
    const length = end - start;
    const lengthBytes = varIntSize(length);
    // In rare cases the length takes another number of bytes than was left free for it.
    if (lengthBytes !== LENGTH_BYTES) slab.copyWithin(offset + lengthBytes, start, end);
    writeVarInt(slab, length, offset);
    return offset + lengthBytes + length;
  }

  function write(input: MessageInput, traceparent: string, textBytes: number): number {
    const { key, type, headers } = input;
    const { eventId, version, causationId } = headers;
    const missing = used + FRAME_BYTES + textBytes - slab.length;
    if (missing > 0) return -missing;
    let at = writeValue(input, writeSized(slab, key, used));
    if (at < 0) return at;
    if (at + FRAME_BYTES + textBytes > slab.length) return -(FRAME_BYTES + textBytes);
    at = writeVarInt(slab, causationId === null ? 4 : 5, at);
    at = writeHeader(slab, EVENT_ID, eventId, at);
    at = writeHeader(slab, EVENT_TYPE, type, at);
    at = writeHeader(slab, VERSION, version.toString(), at);
    at = writeHeader(slab, TRACEPARENT, traceparent, at);
    return causationId === null ? at : writeHeader(slab, CAUSATION_ID, causationId, at);
  }

  function message(input: MessageInput): EncodedMessage {
    const { topic, key, type, headers } = input;
    const { traceparent = beginTrace() } = headers;
    // No character takes more than three bytes.
    const ids = headers.eventId.length + (headers.causationId?.length ?? 0) + traceparent.length;
    const characters = key.length + type.length + ids;
    for (let tries = 0; ; tries += 1) {
      const end = write(input, traceparent, 3 * characters);
      if (end > 0) {
        const body = slab.subarray(used, end);
        used = end;
        return { topic, key, body };
      }
      // Takes a new slab; if even a new one was too short, one large enough.
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, tries === 0 ? 0 : 2 * (slab.length - end)));
      used = 0;
    }
  }

  return {
    message,
    /** `traceparent` is used if the event has none. */
    event: (event: OutgoingEvent, inherited?: string): EncodedMessage => {
      const { topic, key, type, payload, version, causationId } = event;
      const eventId = idOf(event);
      return message({
        topic: topicPrefix + topics[topic].name,
        key,
        type,
        payload: { ...payload, eventId },
        headers: { eventId, version, causationId, traceparent: event.traceparent ?? inherited },
      });
    },
  };
}

import { topics } from '@pesewa/contracts';
import { varIntSize, writeText, writeVarInt } from '@pesewa/kafka';
import type { EncodedMessage } from './bundle.ts';
import type { Codec } from './codec.ts';
import { idOf, type OutgoingEvent } from './outbox.ts';

/** What a message is made of. */
export interface MessageInput {
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
    /** The trace that it belongs to; a new one begins where it is left out. */
    readonly traceparent?: string | undefined;
  };
}

/** Encodes what goes out as Kafka will hold it: key, value and headers (ADR 38), each byte written once. */
export interface MessageEncoder {
  /** `traceparent` counts where the event names none. */
  readonly event: (event: OutgoingEvent, traceparent?: string) => EncodedMessage;
  readonly message: (input: MessageInput) => EncodedMessage;
}

/** Many messages share one piece of memory; a piece is given back when the last of its messages is. */
const SLAB_BYTES = 65_536;
/** More than the parts of a record take beside its texts and its value. */
const FRAME_BYTES = 160;
/** What the length of a value takes, most often. */
const LENGTH_BYTES = 2;

/** The name of a header with its length, ready to be copied. */
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
export function createMessageEncoder(
  codec: Codec,
  topicPrefix: string,
  beginTrace: () => string,
): MessageEncoder {
  let slab = Buffer.alloc(0);
  let used = 0;

  /** Writes a value with its length; gives the place behind it, or by how much the slab is too short. */
  function writeValue({ topic, type, payload }: MessageInput, offset: number): number {
    const start = offset + LENGTH_BYTES;
    const end = codec.encodeInto({ buffer: slab, offset: start }, topic, type, payload);
    if (end < 0) return end;
    const length = end - start;
    const lengthBytes = varIntSize(length);
    // Rarely: the length takes another number of bytes than was left free for it.
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
    // Three bytes for each character are always enough.
    const ids = headers.eventId.length + (headers.causationId?.length ?? 0) + traceparent.length;
    const characters = key.length + type.length + ids;
    for (let tries = 0; ; tries += 1) {
      const end = write(input, traceparent, 3 * characters);
      if (end > 0) {
        const body = slab.subarray(used, end);
        used = end;
        return { topic, key, body };
      }
      // A fresh piece; and if even that is too short, one that holds what was missing.
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, tries === 0 ? 0 : 2 * (slab.length - end)));
      used = 0;
    }
  }

  return {
    message,
    event: (event, inherited) => {
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

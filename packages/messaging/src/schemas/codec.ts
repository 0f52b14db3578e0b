import { type SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { type AvroRecord, allSchemas, fullName, subjectOf, type Topic, topics } from '@pesewa/contracts';
import avro from 'avsc';
import { explainRefusal, openRegistry, type RegistryConnection } from './registry.ts';

const MAGIC_BYTE = 0;
const HEADER_BYTES = 5;

/** A message that does not match its registered schema. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

/** The registry can't be asked for a schema now; the same request may succeed later. */
export class RegistryAwayError extends Error {
  override readonly name = 'RegistryAwayError';
}

/** A decoded event: its full record name and its payload. */
export interface Decoded {
  readonly type: string;
  readonly payload: unknown;
}

/** Avro in the Confluent wire format: a magic byte, the registered schema's id, the bytes. */
export type Codec = Awaited<ReturnType<typeof openCodec>>;

/** Where to encode to. */
export interface EncodeTarget {
  readonly buffer: Buffer;
  readonly offset: number;
}

function typeOf(schema: unknown): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    typeHook: (part) => (part === 'long' ? longAsBigint : undefined),
  });
}

interface Writer {
  readonly name: string;
  readonly read: (bytes: Buffer) => unknown;
}

/** Looks up the ids of our schemas. Messages written with an older or newer schema can be decoded too. */
export async function openCodec(
  options: RegistryConnection & {
    readonly topicPrefix: string;
    /** The topics this process writes to; their schemas must be registered. */
    readonly produces: readonly Topic[];
  },
) {
  const registry = openRegistry(options);
  const readers = new Map<string, avro.Type>();
  for (const schema of allSchemas()) readers.set(fullName(schema), typeOf(schema));
  const encoderOf = await loadEncoders(registry, options).catch(explainRefusal);
  const writers = new Map<number, Writer>();

  async function loadWriter(id: number): Promise<Writer> {
    const answered = await registry.getSchema(id);
    const schema: unknown = 'name' in answered ? JSON.parse(JSON.stringify(answered)) : undefined;
    const writer = typeOf(schema);
    const name = writer.name ?? '';
    const reader = readers.get(name);
    if (!reader) return { name, read: (bytes): unknown => writer.fromBuffer(bytes) };
    const same = reader.fingerprint().equals(writer.fingerprint());
    if (same) return { name, read: (bytes): unknown => reader.fromBuffer(bytes) };
    const resolver = reader.createResolver(writer);
    return { name, read: (bytes): unknown => reader.fromBuffer(bytes, resolver) };
  }

  return {
    encode: (topicName: string, type: string, payload: unknown): Buffer => {
      const entry = encoderOf(topicName, type);
      const body = entry.type.toBuffer(payload);
      const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length);
      writeHeader(bytes, 0, entry.id);
      body.copy(bytes, HEADER_BYTES);
      return bytes;
    },
    /**
     * Encodes into a buffer from an offset on. Gives the offset behind the last byte or, as a negative number, how many
     * bytes the buffer is too short.
     */
    encodeInto: ({ buffer, offset }: EncodeTarget, topicName: string, type: string, payload: unknown) => {
      const entry = encoderOf(topicName, type);
      const missing = offset + HEADER_BYTES - buffer.length;
      if (missing > 0) return -missing;
      writeHeader(buffer, offset, entry.id);
      return entry.type.encode(payload, buffer, offset + HEADER_BYTES);
    },
    decode: async (bytes: Buffer): Promise<Decoded> => {
      const id = schemaIdOf(bytes);
      let writer = writers.get(id);
      if (!writer) {
        writer = await loadWriter(id).catch((error: unknown) => {
          if (isUnknownSchema(error)) throw new UndecodableError(`the registry knows no schema ${id}`);
          throw new RegistryAwayError(`the registry does not say what schema ${id} is`, { cause: error });
        });
        writers.set(id, writer);
      }
      return read(writer, id, bytes);
    },
    /** Decodes without waiting; undefined if the registry must be asked for the schema first. */
    decodeKnown: (bytes: Buffer): Decoded | undefined => {
      const id = schemaIdOf(bytes);
      const writer = writers.get(id);
      return writer && read(writer, id, bytes);
    },
  };
}

interface Encoder {
  readonly id: number;
  readonly type: avro.Type;
}

/** Looks up the schemas that we write; gives a function that finds the encoder of a topic and a type. */
async function loadEncoders(
  registry: SchemaRegistry,
  options: { readonly topicPrefix: string; readonly produces: readonly Topic[] },
): Promise<(topicName: string, type: string) => Encoder> {
  const byTopic = new Map<string, Map<string, Encoder>>();
  await Promise.all(
    options.produces.map(async (topic) => {
      const topicName = options.topicPrefix + topic.name;
      const byType = byTopic.get(topicName) ?? new Map<string, Encoder>();
      byTopic.set(topicName, byType);
      await Promise.all(
        topic.events.map(async (schema: AvroRecord) => {
          const id = await registry.getRegistryIdBySchema(subjectOf(topicName, schema), {
            type: SchemaType.AVRO,
            schema: JSON.stringify(schema),
          });
          byType.set(fullName(schema), { id, type: typeOf(schema) });
        }),
      );
    }),
  );
  return (topicName, type) => {
    const encoder = byTopic.get(topicName)?.get(type);
    if (!encoder)
      throw new TypeError(`${type} does not travel on ${topicName}, or this service does not produce it`);
    return encoder;
  };
}

function writeHeader(bytes: Buffer, offset: number, schemaId: number): void {
  bytes[offset] = MAGIC_BYTE;
  bytes.writeInt32BE(schemaId, offset + 1);
}

function schemaIdOf(bytes: Buffer): number {
  if (bytes.length <= HEADER_BYTES || bytes[0] !== MAGIC_BYTE)
    throw new UndecodableError('not in the registry wire format');
  return bytes.readInt32BE(1);
}

function read(writer: Writer, id: number, bytes: Buffer): Decoded {
  try {
    return { type: writer.name, payload: writer.read(bytes.subarray(HEADER_BYTES)) };
  } catch (error) {
    throw new UndecodableError(`bytes do not match schema ${id}`, { cause: error });
  }
}

function isUnknownSchema(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 404;
}

/**
 * Registers every schema under its subject as FULL_TRANSITIVE. An incompatible change is refused, with an error that
 * names the schema.
 */
export async function registerSchemas(
  options: RegistryConnection & { readonly topicPrefix: string },
): Promise<number> {
  const registry = openRegistry(options);
  const pairs = Object.values<Topic>(topics).flatMap((topic) =>
    topic.events.map((schema) => ({ topic, schema })),
  );
  await Promise.all(
    pairs.map(({ topic, schema }) =>
      registry.register(
        { type: SchemaType.AVRO, schema: JSON.stringify(schema) },
        {
          subject: subjectOf(options.topicPrefix + topic.name, schema),
          compatibility: 'FULL_TRANSITIVE' as never,
        },
      ),
    ),
  ).catch(explainRefusal);
  return pairs.length;
}

/** The buffer that avsc reads from and writes to. */
interface Tap {
  pos: number;
  readonly readLong: () => number;
  readonly writeLong: (value: number) => void;
}

interface Long {
  readonly _read: (tap: Tap) => bigint;
  readonly _write: (tap: Tap, value: bigint) => void;
}

/** Within this bound avsc's own arithmetic is exact: twice the number is still a safe integer. */
const EXACT_MAX = 2 ** 51;
const EXACT_MAX_BIGINT = BigInt(EXACT_MAX);

const byBytes = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.allocUnsafe(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: (value: number | string) => BigInt(value),
  toJSON: (value: bigint) => Number(value),
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (left: bigint, right: bigint) => (left === right ? 0 : left < right ? -1 : 1),
});

// avsc copies each custom long through a buffer. Only the numbers that need it go that slow way.
const slow = byBytes as unknown as Long;

const quick: Long = {
  _read: (tap) => {
    const start = tap.pos;
    const value = tap.readLong();
    if (value > -EXACT_MAX && value < EXACT_MAX) return BigInt(value);
    tap.pos = start;
    return slow._read.call(byBytes, tap);
  },
  _write: (tap, value) => {
    if (typeof value === 'bigint' && value > -EXACT_MAX_BIGINT && value < EXACT_MAX_BIGINT)
      tap.writeLong(Number(value));
    else slow._write.call(byBytes, tap, value);
  },
};

/** 64-bit integers as bigint, so that no amount is ever rounded. */
export const longAsBigint: avro.Type = Object.freeze(
  Object.assign(Object.create(byBytes) as typeof byBytes, quick),
);

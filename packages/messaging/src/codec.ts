import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import {
  type AvroRecord,
  allSchemas,
  fullName,
  parkedTopic,
  subjectOf,
  type Topic,
  topics,
} from '@pesewa/contracts';
import avro from 'avsc';

const MAGIC_BYTE = 0;
const HEADER_BYTES = 5;

/** A message that is not what its registered schema says. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

/** An event as it was decoded: its full record name and its payload. */
export interface Decoded {
  readonly type: string;
  readonly payload: unknown;
}

/** Avro in the Confluent wire format: a magic byte, the registered schema's id, the bytes. */
export interface Codec {
  readonly encode: (topicName: string, type: string, payload: unknown) => Buffer;
  readonly decode: (bytes: Buffer) => Promise<Decoded>;
}

/** Whole numbers of 64 bits as bigint: no amount is ever rounded on its way. */
const longAsBigint = avro.types.LongType.__with({
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

function typeOf(schema: unknown): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    typeHook: (part) => (part === 'long' ? longAsBigint : undefined),
  });
}

interface Writer {
  readonly name: string;
  readonly read: (bytes: Buffer) => unknown;
}

/** Looks up the ids of our schemas and reads whatever older or newer form a message was written in. */
export async function openCodec(options: {
  readonly registryUrl: string;
  readonly topicPrefix: string;
  /** The topics this process writes to; their schemas must be registered. */
  readonly produces: readonly Topic[];
}): Promise<Codec> {
  const registry = new SchemaRegistry({ host: options.registryUrl, retry: { retries: 5 } });
  const readers = new Map<string, avro.Type>();
  const known = [...allSchemas().map(({ schema }) => schema), ...parkedTopic('any').events];
  for (const schema of known) readers.set(fullName(schema), typeOf(schema));
  const ids = new Map<string, { readonly id: number; readonly type: avro.Type }>();
  await Promise.all(
    options.produces.flatMap((topic) =>
      topic.events.map(async (schema: AvroRecord) => {
        const subject = subjectOf(options.topicPrefix + topic.name, schema);
        const id = await registry.getRegistryIdBySchema(subject, {
          type: SchemaType.AVRO,
          schema: JSON.stringify(schema),
        });
        ids.set(`${options.topicPrefix}${topic.name} ${fullName(schema)}`, { id, type: typeOf(schema) });
      }),
    ),
  );
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
    encode: (topicName, type, payload) => {
      const entry = ids.get(`${topicName} ${type}`);
      if (!entry)
        throw new TypeError(`${type} does not travel on ${topicName}, or this service does not produce it`);
      const body = entry.type.toBuffer(payload);
      const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length);
      bytes.writeUInt8(MAGIC_BYTE, 0);
      bytes.writeInt32BE(entry.id, 1);
      body.copy(bytes, HEADER_BYTES);
      return bytes;
    },
    decode: async (bytes) => {
      if (bytes.length <= HEADER_BYTES || bytes[0] !== MAGIC_BYTE)
        throw new UndecodableError('not in the registry wire format');
      const id = bytes.readInt32BE(1);
      let writer = writers.get(id);
      if (!writer) {
        writer = await loadWriter(id).catch((error: unknown) => {
          if (isUnknownSchema(error)) throw new UndecodableError(`the registry knows no schema ${id}`);
          throw error;
        });
        writers.set(id, writer);
      }
      try {
        return { type: writer.name, payload: writer.read(bytes.subarray(HEADER_BYTES)) };
      } catch (error) {
        throw new UndecodableError(`bytes do not match schema ${id}`, { cause: error });
      }
    },
  };
}

function isUnknownSchema(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 404;
}

/** Registers every schema under its subject as FULL_TRANSITIVE; an incompatible change is refused by name. */
export async function registerSchemas(options: {
  readonly registryUrl: string;
  readonly topicPrefix: string;
  readonly consumerGroups: readonly string[];
}): Promise<number> {
  const registry = new SchemaRegistry({ host: options.registryUrl, retry: { retries: 5 } });
  const all: Topic[] = [...Object.values(topics), ...options.consumerGroups.map(parkedTopic)];
  const pairs = all.flatMap((topic) => topic.events.map((schema) => ({ topic, schema })));
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
  );
  return pairs.length;
}

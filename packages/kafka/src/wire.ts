import type { ProduceInput } from './produce-encoder.ts';
import { encodeProduce } from './produce-encoder.ts';

/** A request and how its answer is read, as a connection of kafkajs takes them. */
export interface WireRequest<Answer> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    /** The bytes behind the header. */
    readonly encode: () => Promise<{ readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (bytes: Buffer) => Promise<Answer>;
    readonly parse: (answer: Answer) => Promise<Answer>;
  };
  readonly requestTimeout: number;
}

/** A broker's answer for one partition of a Produce request. */
export interface PartitionAnswer {
  readonly topic: string;
  readonly partition: number;
  /** 0 if every in-sync replica has the records. */
  readonly errorCode: number;
}

/** What a broker knows of a topic. */
export interface TopicMetadata {
  readonly name: string;
  /** The topic's id in hex; a topic that was deleted and created again has another one. */
  readonly id: string;
  readonly errorCode: number;
  readonly partitions: readonly {
    readonly partition: number;
    /** The id of the broker that leads it; -1 if there is none. */
    readonly leader: number;
  }[];
}

/** What a broker knows of its cluster. */
export interface ClusterMetadata {
  readonly brokers: readonly { readonly id: number; readonly host: string; readonly port: number }[];
  readonly topics: readonly TopicMetadata[];
}

function exchange<Answer>(
  api: { readonly key: number; readonly version: number; readonly name: string },
  encode: () => Buffer,
  decode: (reader: WireReader) => Answer,
  timeoutMs: number,
): WireRequest<Answer> {
  return {
    request: {
      apiKey: api.key,
      apiVersion: api.version,
      apiName: api.name,
      encode: async () => ({ buffer: encode() }),
    },
    response: { decode: async (bytes) => decode(wireReader(bytes)), parse: async (answer) => answer },
    requestTimeout: timeoutMs,
  };
}

/** Produce (version 7) with an answer for each partition; kafkajs discards all answers if one of them is an error. */
export function produceRequest(
  input: ProduceInput,
  timeoutMs: number,
): WireRequest<readonly PartitionAnswer[]> {
  return exchange(
    { key: 0, version: 7, name: 'Produce' },
    () => encodeProduce(input, Date.now()),
    (reader): readonly PartitionAnswer[] =>
      reader
        .list(() => {
          const topic = reader.text();
          return reader.list((): PartitionAnswer => {
            const partition = reader.int32();
            const errorCode = reader.int16();
            // Skips base offset, append time and log start.
            reader.skip(24);
            return { topic, partition, errorCode };
          });
        })
        .flat(),
    timeoutMs,
  );
}

/** Metadata (version 10): the first version with topic ids, which kafkajs does not support. */
export function metadataRequest(topics: readonly string[], timeoutMs: number): WireRequest<ClusterMetadata> {
  return exchange(
    { key: 3, version: 10, name: 'Metadata' },
    () => {
      const parts = [Buffer.of(0), unsigned(topics.length + 1)];
      for (const topic of topics) {
        const name = Buffer.from(topic);
        parts.push(Buffer.alloc(16), unsigned(name.length + 1), name, Buffer.of(0));
      }
      // The request must neither create topics nor return access rights.
      parts.push(Buffer.of(0, 0, 0, 0));
      return Buffer.concat(parts);
    },
    readMetadata,
    timeoutMs,
  );
}

function readMetadata(reader: WireReader): ClusterMetadata {
  // Skips the header's tags, then the throttle time.
  reader.tags();
  reader.skip(4);
  const brokers = reader.compactList(() => {
    const broker = { id: reader.int32(), host: reader.compactText(), port: reader.int32() };
    reader.compactText();
    reader.tags();
    return broker;
  });
  reader.compactText();
  reader.skip(4);
  const topics = reader.compactList((): TopicMetadata => {
    const errorCode = reader.int16();
    const name = reader.compactText();
    const id = reader.bytes(16).toString('hex');
    reader.skip(1);
    const partitions = reader.compactList(() => {
      reader.skip(2);
      const partition = { partition: reader.int32(), leader: reader.int32() };
      reader.skip(4);
      for (let list = 0; list < 3; list += 1) reader.compactList(() => reader.int32());
      reader.tags();
      return partition;
    });
    reader.skip(4);
    reader.tags();
    return { errorCode, name, id, partitions };
  });
  return { brokers, topics };
}

/** An unsigned integer in groups of seven bits. */
function unsigned(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.from([...bytes, rest]);
}

type WireReader = ReturnType<typeof wireReader>;

function wireReader(buffer: Buffer) {
  let at = 0;
  const bytes = (length: number): Buffer => {
    if (at + length > buffer.length) throw new RangeError('an answer of Kafka ends early');
    at += length;
    return buffer.subarray(at - length, at);
  };
  const uint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes(1)[0] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte <= 0x7f) return value;
      if (shift > 28) throw new RangeError('an answer of Kafka holds no length where one belongs');
    }
  };
  const int32 = (): number => bytes(4).readInt32BE();
  const int16 = (): number => bytes(2).readInt16BE();
  const times = <Item>(count: number, read: () => Item): Item[] => {
    const items: Item[] = [];
    for (let index = 0; index < count; index += 1) items.push(read());
    return items;
  };
  return {
    bytes,
    int16,
    int32,
    skip: (length: number): void => void bytes(length),
    text: (): string => bytes(Math.max(0, int16())).toString(),
    list: <Item>(read: () => Item): Item[] => times(int32(), read),
    /** Null is read as empty. */
    compactText: (): string => bytes(Math.max(0, uint() - 1)).toString(),
    compactList: <Item>(read: () => Item): Item[] => times(uint() - 1, read),
    tags: (): void => {
      for (let left = uint(); left > 0; left -= 1) {
        uint();
        bytes(uint());
      }
    },
  };
}

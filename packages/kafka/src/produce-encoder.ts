import { varIntSize, writeVarInt } from './record-bytes.ts';

/**
 * The content of a Produce request (version 3 to 7): for each partition one batch of records, whose bodies are encoded
 * already.
 */
export interface ProduceInput {
  readonly acks: number;
  readonly timeoutMs: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly bodies: readonly Buffer[] }[];
  }[];
}

/** The bytes of a batch from its offset up to its count of records. */
const BATCH_HEADER_BYTES = 61;
/** Offsets in a batch: the length counts the bytes from the leader epoch on, the checksum those from the attributes on. */
const BATCH_LENGTH_AT = 8;
const BATCH_LEADER_EPOCH_AT = 12;
const BATCH_ATTRIBUTES_AT = 21;
const MAGIC = 2;
const NO_PRODUCER = -1n;

interface Batch {
  readonly partition: number;
  readonly bodies: readonly Buffer[];
  readonly bytes: number;
}

/** Attributes and timestamp delta are one zero byte each; the offset delta follows them. */
const recordSize = (body: Buffer, offsetDelta: number): number => 2 + varIntSize(offsetDelta) + body.length;

function measure(partition: number, bodies: readonly Buffer[]): Batch {
  let bytes = BATCH_HEADER_BYTES;
  for (let index = 0; index < bodies.length; index += 1) {
    const size = recordSize(bodies[index] as Buffer, index);
    bytes += varIntSize(size) + size;
  }
  return { partition, bodies, bytes };
}

function writeBatch(target: Buffer, { bodies, bytes }: Batch, start: number, nowMs: bigint): void {
  target.writeBigInt64BE(0n, start);
  target.writeInt32BE(bytes - BATCH_LEADER_EPOCH_AT, start + BATCH_LENGTH_AT);
  target.writeInt32BE(0, start + BATCH_LEADER_EPOCH_AT);
  target.writeInt8(MAGIC, start + 16);
  target.writeInt16BE(0, start + BATCH_ATTRIBUTES_AT);
  target.writeInt32BE(bodies.length - 1, start + 23);
  target.writeBigInt64BE(nowMs, start + 27);
  target.writeBigInt64BE(nowMs, start + 35);
  target.writeBigInt64BE(NO_PRODUCER, start + 43);
  target.writeInt16BE(0, start + 51);
  target.writeInt32BE(0, start + 53);
  target.writeInt32BE(bodies.length, start + 57);
  let at = start + BATCH_HEADER_BYTES;
  for (let index = 0; index < bodies.length; index += 1) {
    const body = bodies[index] as Buffer;
    at = writeVarInt(target, recordSize(body, index), at);
    target[at] = 0;
    target[at + 1] = 0;
    at = writeVarInt(target, index, at + 2);
    target.set(body, at);
    at += body.length;
  }
  target.writeUInt32BE(crc32c(target, start + BATCH_ATTRIBUTES_AT, start + bytes), start + 17);
}

/**
 * Encodes a Produce request of a producer that is neither idempotent nor transactional: uncompressed, every record at
 * the given time, in one buffer of its exact size.
 */
export function encodeProduce(input: ProduceInput, nowMs: number): Buffer {
  const topics = input.topics.map(({ topic, partitions }) => ({
    topic,
    topicLength: Buffer.byteLength(topic),
    batches: partitions.map(({ partition, bodies }) => measure(partition, bodies)),
  }));
  let size = 12;
  for (const { topicLength, batches } of topics) {
    size += 6 + topicLength;
    for (const { bytes } of batches) size += 8 + bytes;
  }
  const target = Buffer.allocUnsafe(size);
  target.writeInt16BE(-1, 0);
  target.writeInt16BE(input.acks, 2);
  target.writeInt32BE(input.timeoutMs, 4);
  target.writeInt32BE(topics.length, 8);
  let at = 12;
  for (const { topic, topicLength, batches } of topics) {
    at = target.writeInt16BE(topicLength, at);
    at += target.write(topic, at, 'utf8');
    at = target.writeInt32BE(batches.length, at);
    for (const batch of batches) {
      at = target.writeInt32BE(batch.partition, at);
      at = target.writeInt32BE(batch.bytes, at);
      writeBatch(target, batch, at, BigInt(nowMs));
      at += batch.bytes;
    }
  }
  return target;
}

const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;

/** Eight tables of 256 values, one for each of the eight bytes processed at once. */
const tables = ((): readonly Int32Array[] => {
  const first = Int32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    return value;
  });
  const all = [first];
  for (let slice = 1; slice < SLICES; slice += 1) {
    const before = all[slice - 1] ?? first;
    all.push(before.map((value) => (first[value & 0xff] ?? 0) ^ (value >>> 8)));
  }
  return all;
})();

const none = new Int32Array(256);
const [t0 = none, t1 = none, t2 = none, t3 = none, t4 = none, t5 = none, t6 = none, t7 = none] = tables;

/** The checksum of Kafka's record batches (CRC-32C), eight bytes at a time. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  let at = start;
  for (; at + SLICES <= end; at += SLICES) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (t7[low & 0xff] as number) ^
      (t6[(low >>> 8) & 0xff] as number) ^
      (t5[(low >>> 16) & 0xff] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number);
  }
  for (; at < end; at += 1) crc = (t0[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ -1) >>> 0;
}

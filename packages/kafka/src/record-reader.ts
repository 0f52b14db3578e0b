import { varIntReader } from './record-bytes.ts';

type Headers = Record<string, Buffer | null | (Buffer | null)[]>;

/** A batch of records in the form of kafkajs's own decoder. */
export interface RecordBatch {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly partitionLeaderEpoch: number;
  readonly inTransaction: boolean;
  readonly isControlBatch: boolean;
  readonly lastOffsetDelta: number;
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  readonly maxTimestamp: string;
  readonly timestampType: number;
  readonly records: readonly object[];
}

const BATCH_HEADER_BYTES = 61;
const LENGTH_END = 12;
const COMPRESSION_MASK = 0x7;
const LOG_APPEND_TIME_MASK = 0x8;
const TRANSACTIONAL_MASK = 0x10;
const CONTROL_MASK = 0x20;

/**
 * Reads one batch at an offset in a Fetch answer; undefined if the batch is compressed or cut off, which kafkajs
 * handles.
 */
export function readRecordBatch(
  bytes: Buffer,
  start: number,
): { readonly batch: RecordBatch; readonly end: number } | undefined {
  if (start + BATCH_HEADER_BYTES > bytes.length) return undefined;
  const length = bytes.readInt32BE(start + 8);
  const end = start + LENGTH_END + length;
  const attributes = bytes.readInt16BE(start + 21);
  if (end > bytes.length || (attributes & COMPRESSION_MASK) !== 0) return undefined;
  const context = {
    firstOffset: bytes.readBigInt64BE(start).toString(),
    firstTimestamp: bytes.readBigInt64BE(start + 27).toString(),
    partitionLeaderEpoch: bytes.readInt32BE(start + LENGTH_END),
    inTransaction: (attributes & TRANSACTIONAL_MASK) > 0,
    isControlBatch: (attributes & CONTROL_MASK) > 0,
    lastOffsetDelta: bytes.readInt32BE(start + 23),
    producerId: bytes.readBigInt64BE(start + 43).toString(),
    producerEpoch: bytes.readInt16BE(start + 51),
    firstSequence: bytes.readInt32BE(start + 53),
    maxTimestamp: bytes.readBigInt64BE(start + 35).toString(),
    timestampType: (attributes & LOG_APPEND_TIME_MASK) > 0 ? 1 : 0,
  };
  const count = bytes.readInt32BE(start + 57);
  const records = readRecords(bytes, start + BATCH_HEADER_BYTES, count, {
    ...context,
    magicByte: bytes.readInt8(start + 16),
  });
  return records && { batch: { ...context, records }, end };
}

type Context = Omit<RecordBatch, 'records'> & { readonly magicByte: number };

function readRecords(
  bytes: Buffer,
  start: number,
  count: number,
  context: Context,
): readonly object[] | undefined {
  const firstOffset = Number(context.firstOffset);
  const firstTimestamp = Number(context.firstTimestamp);
  const logAppendTime = context.timestampType === 1;
  const reader = varIntReader(bytes, start);
  const readBytes = (): Buffer | null => {
    const length = reader.next();
    if (length < 0) return null;
    reader.at += length;
    return bytes.subarray(reader.at - length, reader.at);
  };
  const records: object[] = [];
  for (let index = 0; index < count; index += 1) {
    const length = reader.next();
    const end = reader.at + length;
    const attributes = bytes.readInt8(reader.at);
    reader.at += 1;
    const timestampDelta = readVarLong(bytes, reader);
    if (timestampDelta === undefined) return undefined;
    const offset = firstOffset + reader.next();
    const key = readBytes();
    const value = readBytes();
    records.push({
      magicByte: context.magicByte,
      attributes,
      timestamp:
        logAppendTime || timestampDelta === 0
          ? logAppendTime
            ? context.maxTimestamp
            : context.firstTimestamp
          : String(firstTimestamp + timestampDelta),
      offset: String(offset),
      key,
      value,
      headers: readHeaders(bytes, reader, readBytes),
      isControlRecord: context.isControlBatch,
      batchContext: context,
    });
    reader.at = end;
  }
  return records;
}

type Reader = ReturnType<typeof varIntReader>;

/** A timestamp's delta; undefined if it exceeds the exact range of a number. */
function readVarLong(bytes: Buffer, reader: Reader): number | undefined {
  let value = 0;
  let scale = 1;
  let byte: number;
  do {
    byte = bytes[reader.at] ?? 0;
    reader.at += 1;
    value += (byte & 0x7f) * scale;
    scale *= 128;
  } while (byte > 0x7f);
  if (!Number.isSafeInteger(value)) return undefined;
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function readHeaders(bytes: Buffer, reader: Reader, readBytes: () => Buffer | null): Headers {
  const headers: Headers = {};
  for (let left = reader.next(); left > 0; left -= 1) {
    const length = reader.next();
    const name = nameAt(bytes, reader.at, length);
    reader.at += Math.max(0, length);
    const value = readBytes();
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else headers[name] = Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}

const NAMES_REMEMBERED_MAX = 256;
const remembered = new Map<number, string>();

/** The name of a header; cached, because the same few occur again and again. */
function nameAt(bytes: Buffer, start: number, length: number): string {
  const hint = (length << 16) | ((bytes[start] ?? 0) << 8) | (bytes[start + length - 1] ?? 0);
  const known = remembered.get(hint);
  if (known !== undefined && isAt(bytes, start, known, length)) return known;
  const name = bytes.toString('utf8', start, start + Math.max(0, length));
  if (name.length === length && remembered.size < NAMES_REMEMBERED_MAX) remembered.set(hint, name);
  return name;
}

function isAt(bytes: Buffer, start: number, text: string, length: number): boolean {
  if (text.length !== length) return false;
  for (let index = 0; index < length; index += 1) {
    if (bytes[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

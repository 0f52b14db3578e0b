import { createRequire } from 'node:module';
import { encodeProduce, type ProduceInput, type ProduceMessage } from './produce-encoder.ts';
import { type RecordBatch, readRecordBatch } from './record-reader.ts';

/**
 * The mends of kafkajs 2.2.4, which has no release since 2023 (ADR 11); this module must be imported before kafkajs
 * itself.
 */
const require = createRequire(import.meta.url);

interface Encoder {
  buf: Buffer;
  offset: number;
  readonly buffer: Buffer;
}

interface Decoder {
  readonly buffer: Buffer;
  offset: number;
}

/** Replaces what a file of kafkajs exports, before anything else has taken it from there. */
function replace<Export>(file: string, by: (original: Export) => Export): void {
  const path = require.resolve(`kafkajs/src/${file}`);
  const original = require(path) as Export;
  const loaded = require.cache[path];
  if (!loaded) throw new Error(`kafkajs has no ${file} where 2.2.4 has it`);
  loaded.exports = by(original);
}

const encoderClass = require('kafkajs/src/protocol/encoder') as { readonly prototype: Encoder };

function encoderOf(bytes: Buffer): Encoder {
  const encoder = Object.create(encoderClass.prototype) as Encoder;
  encoder.buf = bytes;
  encoder.offset = bytes.length;
  return encoder;
}

/**
 * Stops an idle connection from re-arming a 1 ms timer for ever, which costs 5 % of a core and warns of negative
 * timeouts on Node 24 (tulios/kafkajs#1751; research/kafka-mongo D5).
 */
function patchIdleTimer(): void {
  const queue = require('kafkajs/src/network/requestQueue') as {
    readonly prototype: {
      scheduleCheckPendingRequests: (this: { readonly pending: readonly unknown[] }) => void;
    };
  };
  const original = queue.prototype.scheduleCheckPendingRequests;
  queue.prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests() {
    if (this.pending.length > 0) original.call(this);
  };
}

type ProduceRequest = ProduceInput & {
  readonly transactionalId?: string | null;
  readonly producerId?: number | bigint | { readonly toString: () => string };
  readonly compression?: number;
};

type CreateProduce = (input: ProduceRequest) => { readonly encode: () => Promise<Encoder> };

const isPlain = ({ transactionalId, producerId, compression = 0 }: ProduceRequest): boolean =>
  !transactionalId && compression === 0 && (producerId === undefined || producerId.toString() === '-1');

const messagesOf = ({ topicData }: ProduceRequest): readonly ProduceMessage[] =>
  topicData.flatMap(({ partitions }) => partitions.flatMap(({ messages }) => messages));

/**
 * Writes what is produced once, into one buffer; kafkajs fills 512 zeroed bytes for every record and every header and
 * copies a record six times on its way to the socket.
 */
function patchProduce(): void {
  replace<CreateProduce>('protocol/requests/produce/v3/request', (original) => (input) => {
    const encode = async (): Promise<Encoder> => {
      const messages = messagesOf(input);
      if (isPlain(input) && messages.every(({ timestamp }) => timestamp === undefined || timestamp === null))
        return encoderOf(encodeProduce(input, Date.now()));
      if (messages.some(({ body }) => body)) throw new TypeError('an encoded message is produced plain');
      return original(input).encode();
    };
    return { ...original(input), encode };
  });
}

interface WireRequest {
  readonly correlationId: number;
  readonly clientId: string;
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly encode: () => Promise<Encoder>;
  };
}

/** Puts the header before a request in one step; kafkajs doubles zeroed buffers until all of it fits, twice. */
function patchRequest(): void {
  replace<(wire: WireRequest) => Promise<Encoder>>('protocol/request', () => async (wire) => {
    const { apiKey, apiVersion, encode } = wire.request;
    const payload = (await encode()).buffer;
    const clientIdLength = Buffer.byteLength(wire.clientId);
    const headerBytes = 14 + clientIdLength;
    const bytes = Buffer.allocUnsafe(headerBytes + payload.length);
    bytes.writeInt32BE(bytes.length - 4, 0);
    bytes.writeInt16BE(apiKey, 4);
    bytes.writeInt16BE(apiVersion, 6);
    bytes.writeInt32BE(wire.correlationId, 8);
    bytes.writeInt16BE(clientIdLength, 12);
    bytes.write(wire.clientId, 14, 'utf8');
    bytes.set(payload, headerBytes);
    return encoderOf(bytes);
  });
}

interface Grouping {
  readonly topic: string;
  readonly partitionMetadata: readonly unknown[];
  readonly messages: readonly ProduceMessage[];
  readonly partitioner: (options: {
    topic: string;
    partitionMetadata: readonly unknown[];
    message: ProduceMessage;
  }) => number;
}

/** Puts messages to their partitions one by one; kafkajs copies a partition's list for every message of it. */
function patchGrouping(): void {
  replace<(grouping: Grouping) => Record<number, ProduceMessage[]>>(
    'producer/groupMessagesPerPartition',
    () =>
      ({ topic, partitionMetadata, messages, partitioner }) => {
        const groups: Record<number, ProduceMessage[]> = {};
        if (partitionMetadata.length === 0) return groups;
        for (const message of messages) {
          const partition = partitioner({ topic, partitionMetadata, message });
          const group = groups[partition];
          if (group) group.push(message);
          else groups[partition] = [message];
        }
        return groups;
      },
  );
}

/** Reads fetched batches in one pass, without a decoder, a copy of the headers and two long numbers for each record. */
function patchFetch(): void {
  replace<(decoder: Decoder) => Promise<RecordBatch>>(
    'protocol/recordBatch/v0/decoder',
    (original) => async (decoder) => {
      const read = readRecordBatch(decoder.buffer, decoder.offset);
      if (!read) return original(decoder);
      decoder.offset = read.end;
      return read.batch;
    },
  );
}

patchIdleTimer();
patchProduce();
patchRequest();
patchGrouping();
patchFetch();

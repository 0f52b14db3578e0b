import { createRequire } from 'node:module';
import { encodeRecord, type RecordInput } from './record-encoder.ts';

/**
 * Two mends of kafkajs 2.2.4, which has no release since 2023; this module must be imported before kafkajs itself.
 */
const require = createRequire(import.meta.url);

interface RequestQueue {
  readonly pending: readonly unknown[];
}

interface Encoder {
  buf: Buffer;
  offset: number;
}

/**
 * Stops an idle connection from re-arming a 1 ms timer for ever, which costs 5 % of a core and warns of negative
 * timeouts on Node 24 (tulios/kafkajs#1751; research/kafka-mongo D5).
 */
function patchIdleTimer(): void {
  const queue = require('kafkajs/src/network/requestQueue') as {
    readonly prototype: { scheduleCheckPendingRequests: (this: RequestQueue) => void };
  };
  const original = queue.prototype.scheduleCheckPendingRequests;
  queue.prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests() {
    if (this.pending.length > 0) original.call(this);
  };
}

/**
 * Encodes a record in one buffer of its exact size; kafkajs fills 512 zeroed bytes for each record and each header,
 * a fifth of what a busy ledger does.
 */
function patchRecordEncoder(): void {
  const EncoderClass = require('kafkajs/src/protocol/encoder') as { readonly prototype: Encoder };
  const path = require.resolve('kafkajs/src/protocol/recordBatch/record/v0');
  require(path);
  const loaded = require.cache[path];
  if (!loaded) throw new Error('kafkajs has no record encoder where 2.2.4 has it');
  loaded.exports = (input: RecordInput): Encoder => {
    const encoder = Object.create(EncoderClass.prototype) as Encoder;
    encoder.buf = encodeRecord(input);
    encoder.offset = encoder.buf.length;
    return encoder;
  };
}

patchIdleTimer();
patchRecordEncoder();

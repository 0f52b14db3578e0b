import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { type RecordBatch, readRecordBatch } from './record-reader.ts';

/**
 * Patches for kafkajs 2.2.4, which has had no release since 2023 (ADR 3). This module must be imported before kafkajs.
 */
const require = createRequire(import.meta.url);

/** Each answer begins with its length. */
const LENGTH_BYTES = 4;

interface Encoder {
  buf: Buffer;
  offset: number;
  readonly buffer: Buffer;
}

interface Decoder {
  readonly buffer: Buffer;
  offset: number;
}

/** Replaces an export of a kafkajs file before other code takes it from there. */
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
 * timeouts on Node 24 (tulios/kafkajs#1556, #1751).
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

interface WireRequest {
  readonly correlationId: number;
  readonly clientId: string;
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly encode: () => Promise<Encoder>;
  };
}

/** Puts the header before a request in one step; kafkajs doubles zeroed buffers until everything fits, twice. */
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

/** Reads fetched batches in one pass, which saves a decoder, a copy of the headers and two long numbers per record. */
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

interface Group {
  readonly assigners: readonly { readonly beforeHandOver?: () => Promise<void> }[];
  joining?: Promise<void> | undefined;
}

async function handOver(group: Group): Promise<void> {
  for (const { beforeHandOver } of group.assigners) await beforeHandOver?.();
}

/**
 * Lets a member finish its work before it rejoins its group or leaves it; kafkajs reports lost partitions only with the
 * next assignment. Several fetches may find at once that leaders have moved and ask to join: they share one join.
 *
 * A failed join ends the member. After some failures kafkajs would go on fetching: a coordinator that has just moved
 * may still know the member, and the group would then rely on a member that has handed over everything and was assigned
 * nothing.
 */
function patchHandOver(): void {
  const group = require('kafkajs/src/consumer/consumerGroup') as {
    readonly prototype: {
      joinAndSync: (this: Group) => Promise<void>;
      leave: (this: Group) => Promise<void>;
    };
  };
  const { KafkaJSNonRetriableError } = require('kafkajs/src/errors') as {
    readonly KafkaJSNonRetriableError: new (error: unknown, options: { readonly cause: unknown }) => Error;
  };
  const { joinAndSync, leave } = group.prototype;
  group.prototype.joinAndSync = function join() {
    this.joining ??= handOver(this)
      .then(() => joinAndSync.call(this))
      .catch((error: unknown) => {
        throw new KafkaJSNonRetriableError(error, { cause: error });
      })
      .finally(() => {
        this.joining = undefined;
      });
    return this.joining;
  };
  group.prototype.leave = async function leaveGroup() {
    await handOver(this);
    await leave.call(this);
  };
}

/** Keeps the heartbeats of a member going when the wall clock is set back: kafkajs would wait until it has caught up. */
function patchHeartbeat(): void {
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as {
    readonly prototype: {
      heartbeat: (this: { lastRequest: number }, pause: { readonly interval: number }) => Promise<void>;
    };
  };
  const { heartbeat } = prototype;
  prototype.heartbeat = function beat(pause) {
    this.lastRequest = Math.min(this.lastRequest, Date.now());
    return heartbeat.call(this, pause);
  };
}

interface Connection {
  readonly host: string;
  readonly port: number;
  readonly requestQueue: { readonly destroy: () => void };
  readonly isConnected: () => boolean;
  readonly rejectRequests: (error: Error) => void;
  readonly authHandlers: { readonly onError: () => void } | null;
  authenticatedAt: unknown;
  connectionStatus: string;
  opening?: { readonly done: Promise<unknown>; readonly giveUp: (error: Error) => void } | undefined;
  socket?: Socket | undefined;
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
}

/**
 * Gives each connection a socket of its own every time it is opened, and fails everything that waits on it when it is
 * closed.
 *
 * kafkajs opens two sockets for two simultaneous requests, continues with half an answer from the previous socket, and
 * lets the events of an old socket close the newer one. A request sent meanwhile, such as one to join a group, is then
 * never answered and never times out.
 */
function patchConnection(): void {
  const { prototype } = require('kafkajs/src/network/connection') as {
    readonly prototype: {
      connect: (this: Connection) => Promise<unknown>;
      disconnect: (this: Connection) => Promise<boolean>;
    };
  };
  const { CONNECTION_STATUS } = require('kafkajs/src/network/connectionStatus') as {
    readonly CONNECTION_STATUS: { readonly DISCONNECTED: string };
  };
  const { KafkaJSConnectionClosedError } = require('kafkajs/src/errors') as {
    readonly KafkaJSConnectionClosedError: new (
      message: string,
      broker: { readonly host: string; readonly port: number },
    ) => Error;
  };
  const original = prototype.connect;
  prototype.connect = function connect() {
    if (this.isConnected()) return Promise.resolve(true);
    if (!this.opening) {
      this.chunks = [];
      this.bytesBuffered = 0;
      this.bytesNeeded = LENGTH_BYTES;
      const givenUp = Promise.withResolvers<never>();
      const done = Promise.race([original.call(this), givenUp.promise]).finally(() => {
        this.opening = undefined;
      });
      this.opening = { done, giveUp: givenUp.reject };
    }
    return this.opening.done;
  };
  prototype.disconnect = async function disconnect() {
    const { host, port, socket, opening } = this;
    const closed = new KafkaJSConnectionClosedError('Closed connection', { host, port });
    this.authenticatedAt = null;
    this.connectionStatus = CONNECTION_STATUS.DISCONNECTED;
    this.socket = undefined;
    // A connection that is being opened may still report why it fails; TLS does so right after the socket's end.
    if (opening) setImmediate(() => opening.giveUp(closed));
    else socket?.removeAllListeners().on('error', () => undefined);
    socket?.destroy();
    this.authHandlers?.onError();
    this.rejectRequests(closed);
    this.requestQueue.destroy();
    return true;
  };
}

/**
 * Closes a connection whose first requests are not answered, for example by a paused broker. kafkajs would leave it
 * open, consider it connected from then on, and fail every request on it silently.
 */
function patchConnect(): void {
  const broker = require('kafkajs/src/broker') as {
    readonly prototype: {
      connect: (this: { readonly disconnect: () => Promise<void> }) => Promise<void>;
    };
  };
  const original = broker.prototype.connect;
  broker.prototype.connect = async function connect() {
    try {
      await original.call(this);
    } catch (error) {
      this.disconnect().catch(() => undefined);
      throw error;
    }
  };
}

/** kafkajs is loaded once by a process, even if this module is loaded again: a patched function patched again hangs. */
const patched = Symbol.for('pesewa.kafkajs.patched');

if (!Reflect.has(encoderClass, patched)) {
  patchIdleTimer();
  patchRequest();
  patchFetch();
  // These come last, because they load files that use what is replaced above.
  patchHandOver();
  patchHeartbeat();
  patchConnect();
  patchConnection();
  Reflect.set(encoderClass, patched, true);
}

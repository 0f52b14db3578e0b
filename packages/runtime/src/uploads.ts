import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { type Clock, DeadlineError, withDeadline } from '@pesewa/kernel';
import type { Context } from 'hono';

/** The sender of an upload is too slow or has gone: nothing after what was read will come. */
export class UploadAbortedError extends Error {
  override readonly name = 'UploadAbortedError';
}

/** How fast an upload must arrive. */
export interface UploadRate {
  /** How long nothing may arrive. */
  readonly idleMs: number;
  /** How many bytes per second must have arrived on average, once `graceMs` are over. */
  readonly bytesPerSecondMin: number;
  readonly graceMs: number;
}

const SECOND_MS = 1_000;
/** How much of an upload is still read after its reader has stopped, and for how long. */
const rest = { bytesMax: 64 * 1024 * 1024, timeoutMs: 2_000 } as const;

/** The connections whose current request is an upload, which has time limits of its own. */
const uploading = new WeakSet<Socket>();

const answers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Lets a server's uploads take longer than its limit for a request; all other requests are cut off as Node does by
 * default.
 *
 * Node has one such limit per server, and leaves the cutting off to the listener of `clientError` if there is one.
 */
export function allowUploads(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && uploading.has(socket as Socket)) return;
    const isAnswered = (socket as { readonly _httpMessage?: { readonly headersSent: boolean } })._httpMessage
      ?.headersSent;
    if (socket.writable && isAnswered !== true) {
      const status = answers[error.code ?? ''] ?? '400 Bad Request';
      socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    }
    (socket as Socket).destroySoon();
  });
}

/**
 * Reads the body of an upload as it arrives, however long it takes, and cuts off a sender that is too slow.
 *
 * Time counts only while the reader waits for the sender; a slow reader slows the sender down. If the reader stops half
 * way, the rest is dropped within bounds: a connection that is closed while its client still sends is reset, and the
 * client loses the answer (RFC 9112, 9.6).
 */
export async function* readUpload(
  context: Pick<Context, 'env' | 'req'>,
  rate: UploadRate,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  const socket = incoming?.socket;
  if (socket) uploading.add(socket);
  const body: ReadableStream<Uint8Array> | null = context.req.raw.body;
  const reader = body?.getReader();
  let bytes = 0;
  let waitedMs = 0;
  let hasStopped = false;
  try {
    while (reader) {
      const askedAtMs = clock.nowMs();
      const piece = await withinIdle(reader.read(), rate.idleMs, clock);
      waitedMs += clock.nowMs() - askedAtMs;
      if (piece.done) return;
      bytes += piece.value.byteLength;
      if (waitedMs > rate.graceMs && bytes < (waitedMs * rate.bytesPerSecondMin) / SECOND_MS) {
        throw new UploadAbortedError(`less than ${rate.bytesPerSecondMin} bytes came in a second`);
      }
      hasStopped = true;
      yield piece.value;
      hasStopped = false;
    }
  } finally {
    if (reader && hasStopped) await dropRest(reader, clock);
    if (socket) uploading.delete(socket);
    await reader?.cancel().catch(() => undefined);
  }
}

async function dropRest(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock): Promise<void> {
  const drop = async () => {
    for (let bytes = 0; bytes < rest.bytesMax; ) {
      const piece = await reader.read();
      if (piece.done) return;
      bytes += piece.value.byteLength;
    }
  };
  // The answer is decided: a sender that has gone, or that sends for longer, changes nothing about it.
  await withDeadline(drop(), rest.timeoutMs, clock).catch(() => undefined);
}

async function withinIdle<Piece>(reading: Promise<Piece>, idleMs: number, clock: Clock): Promise<Piece> {
  try {
    return await withDeadline(reading, idleMs, clock);
  } catch (error) {
    throw new UploadAbortedError(
      error instanceof DeadlineError ? `nothing came for ${idleMs} ms` : 'the sender has gone',
    );
  }
}

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Clock } from '@pesewa/kernel';
import type { Context } from 'hono';

/** Whoever sends an upload is too slow, or has gone: what was read is all that came. */
export class UploadCutError extends Error {
  override readonly name = 'UploadCutError';
}

/** How fast an upload must come at least. */
export interface UploadPace {
  /** How long nothing may come. */
  readonly idleMs: number;
  /** What must have come on average, once `graceMs` have gone by. */
  readonly bytesPerSecondMin: number;
  readonly graceMs: number;
}

const SECOND_MS = 1_000;

/** Requests that keep time themselves, by the connection that they come over. */
const uploading = new WeakSet<Socket>();

const answers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Lets a server's uploads outlast its time for a request; every other request is cut off as Node does by itself.
 *
 * Node has one such time for a whole server, and leaves it to whoever listens for `clientError` to cut.
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
 * Reads the body of an upload as it comes, however long it takes, and cuts off whoever sends too slowly.
 *
 * Time counts only while the reader waits for the sender; a reader that is slow itself holds the sender back.
 */
export async function* readUpload(
  context: Pick<Context, 'env' | 'req'>,
  pace: UploadPace,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  const socket = incoming?.socket;
  if (socket) uploading.add(socket);
  const body: ReadableStream<Uint8Array> | null = context.req.raw.body;
  const reader = body?.getReader();
  let bytes = 0;
  let waitedMs = 0;
  try {
    while (reader) {
      const askedAtMs = clock.nowMs();
      const piece = await withinIdle(reader.read(), pace.idleMs, clock);
      waitedMs += clock.nowMs() - askedAtMs;
      if (piece.done) return;
      bytes += piece.value.byteLength;
      if (waitedMs > pace.graceMs && bytes < (waitedMs * pace.bytesPerSecondMin) / SECOND_MS) {
        throw new UploadCutError(`less than ${pace.bytesPerSecondMin} bytes came in a second`);
      }
      yield piece.value;
    }
  } finally {
    if (socket) uploading.delete(socket);
    await reader?.cancel().catch(() => undefined);
  }
}

async function withinIdle<Piece>(reading: Promise<Piece>, idleMs: number, clock: Clock): Promise<Piece> {
  const over = new AbortController();
  const idle = clock.sleep(idleMs, over.signal).then(() => {
    if (!over.signal.aborted) throw new UploadCutError(`nothing came for ${idleMs} ms`);
    return undefined as never;
  });
  // Once the piece is there, nobody waits for the other.
  idle.catch(() => undefined);
  try {
    return await Promise.race([
      reading.catch(() => {
        throw new UploadCutError('the sender has gone');
      }),
      // Never wins by its quiet end: that comes only after the piece.
      idle,
    ]);
  } finally {
    over.abort();
  }
}

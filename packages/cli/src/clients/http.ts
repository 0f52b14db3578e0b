import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliError } from '../errors.ts';
import type { OperationsDownload, OperationsExchange } from '../ports.ts';

const TIMEOUT_MS = 10_000;

/** Talks to an operations API over HTTP; if it does not answer, the error names its address. */
export const exchangeHttp: OperationsExchange = async ({ url, token, body, timeoutMs = TIMEOUT_MS }) => {
  const silent = () => silence(url);
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(silent);
  const text = await response.text().catch(silent);
  return { status: response.status, body: parse(text) };
};

/** How long a download may make no progress. */
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Streams an answer to a file, by way of a temporary file beside it: the file itself is either complete or unchanged.
 */
export const downloadHttp: OperationsDownload = async ({ url, token, file }) => {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
  const partial = `${file}.part`;
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url, { headers, redirect: 'error', signal: idle.signal }).catch(() =>
      silence(url),
    );
    if (!response.ok || !response.body) {
      return { status: response.status, body: parse(await response.text()) };
    }
    const bytes = Readable.from(lively(Readable.fromWeb(response.body), () => timer.refresh()));
    await pipeline(bytes, createWriteStream(partial));
    await rename(partial, file);
    return { status: response.status, body: undefined };
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    if (error instanceof CliError) throw error;
    throw new CliError(
      `${file}: it could not be written completely: check the free space and repeat the command`,
    );
  } finally {
    clearTimeout(timer);
  }
};

async function* lively(chunks: AsyncIterable<Uint8Array>, arrived: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    arrived();
    yield chunk;
  }
}

function silence(url: string): never {
  throw new CliError(`${new URL(url).origin} does not answer: start the service, or give its address`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TOTAL_ROWS_HEADER } from '@pesewa/contracts';
import { ClientError, parseAnswer, requestHttp } from '@pesewa/operator-client';
import { CliError } from '../errors.ts';
import type { OperationsDownload, WebhookForward } from '../ports.ts';

const TIMEOUT_MS = 10_000;

/** Posts a webhook as it is; redirects are answers, and the answer's body is dropped. */
export const forwardHttp: WebhookForward = async ({ url, headers, body }) => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal }).catch(
    () => {
      throw new CliError(`${new URL(url).origin} does not answer: start your receiver, or give its address`);
    },
  );
  await response.body?.cancel();
  return response.status;
};

/** How long a download may make no progress. */
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Streams an answer to a file, by way of a temporary file beside it: the file itself is either complete or unchanged.
 */
export const downloadHttp: OperationsDownload = async ({ url, token, file, progress }) => {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
  const partial = `${file}.part`;
  try {
    const response = await requestHttp({ url, token, signal: idle.signal });
    if (!response.ok || !response.body) {
      return { status: response.status, body: parseAnswer(await response.text()) };
    }
    const declared = response.headers.get(TOTAL_ROWS_HEADER);
    const total = declared === null ? undefined : Number(declared);
    const isCsv = response.headers.get('content-type')?.startsWith('text/csv') === true;
    const rowsWith = isCsv ? countCsvRows() : countJsonRecords();
    const arrived = (chunk: Uint8Array) => {
      timer.refresh();
      progress(rowsWith(chunk), total);
    };
    const bytes = Readable.from(lively(Readable.fromWeb(response.body), arrived));
    await pipeline(bytes, createWriteStream(partial));
    await rename(partial, file);
    return { status: response.status, body: undefined };
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    if (error instanceof ClientError) throw error;
    throw new CliError(
      `${file}: it could not be written completely: check the free space and repeat the command`,
    );
  } finally {
    clearTimeout(timer);
  }
};

async function* lively(
  chunks: AsyncIterable<Uint8Array>,
  arrived: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    arrived(chunk);
    yield chunk;
  }
}

const [LINE_END, QUOTE, BRACE] = Buffer.from('\n"{');

/** Counts the rows of CSV under its heading, chunk by chunk; a line end within quotes ends no row. */
function countCsvRows(): (chunk: Uint8Array) => number {
  let isQuoted = false;
  let lines = 0;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (byte === LINE_END && !isQuoted) lines += 1;
    }
    return Math.max(0, lines - 1);
  };
}

/** Counts the records of JSON, of which each begins a line, chunk by chunk. */
function countJsonRecords(): (chunk: Uint8Array) => number {
  let before: number | undefined;
  let records = 0;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === BRACE && before === LINE_END) records += 1;
      before = byte;
    }
    return records;
  };
}

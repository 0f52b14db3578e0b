import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { type OperationsAnswer, parseAnswer } from '@pesewa/operator-client';
import { CliError } from '../errors.ts';
import type { OperationsUpload } from '../ports.ts';

/** Longer than any dry run takes, because the answer comes after the matching. */
const ANSWER_TIMEOUT_MS = 3_600_000;
const PIECE_BYTES = 262_144;

/**
 * Computes a file's digest, then streams the file.
 *
 * A service that knows the file already answers before it was sent; the rest is then not sent.
 */
export const uploadHttp: OperationsUpload = async ({ urlOf, token, file, progress }) => {
  const unreadable = () => {
    throw new CliError(`FILE: ${file} can't be read: check the path and its permissions`);
  };
  const { size } = await stat(file).catch(unreadable);
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES }))
      hash.update(piece as Buffer);
  } catch {
    unreadable();
  }
  const url = new URL(urlOf(hash.digest('hex')));
  const isSecure = url.protocol === 'https:';
  const send = isSecure ? requestHttps : requestHttp;
  // Keep-alive: if the service closed the connection right after an early answer, the answer would be lost.
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  return new Promise<OperationsAnswer>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'text/csv',
      'content-length': size,
    };
    const request = send(url, { method: 'POST', agent, headers, timeout: ANSWER_TIMEOUT_MS });
    const content = createReadStream(file, { highWaterMark: PIECE_BYTES });
    let isAnswered = false;
    const silent = () => {
      if (!isAnswered)
        reject(
          new CliError(
            `${url.origin} does not answer, or disconnected: repeat the command, which continues where it stopped`,
          ),
        );
    };
    let sent = 0;
    content.on('data', (piece) => {
      sent += piece.length;
      progress(sent, size);
    });
    content.once('error', (error) => request.destroy(error));
    request.once('timeout', () => request.destroy(new Error('no answer')));
    request.once('response', (response) => {
      isAnswered = true;
      content.unpipe(request);
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => void pieces.push(piece));
      const finish = () => {
        content.destroy();
        request.destroy();
        agent.destroy();
        resolve({
          status: response.statusCode ?? 0,
          body: parseAnswer(Buffer.concat(pieces).toString('utf8')),
        });
      };
      response.once('end', finish);
      response.once('error', finish);
    });
    request.once('error', silent);
    request.once('close', silent);
    content.pipe(request);
  });
};

import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';
import type { OperationsAnswer } from './call.ts';
import { ClientError } from './errors.ts';
import { parseAnswer } from './http.ts';

/** Longer than any dry run takes, because the answer comes after the matching. */
const ANSWER_TIMEOUT_MS = 3_600_000;

/** Sends a file as a request's body, piece by piece as the service takes it; rejects with a {@link ClientError}. */
export type FileSender = (request: {
  readonly url: string;
  readonly token: string;
  readonly content: Readable;
  readonly sizeBytes: number;
}) => Promise<OperationsAnswer>;

/**
 * Streams a file to a service over HTTP.
 *
 * A service that knows the file already answers before it was sent; the rest is then not sent.
 */
export const sendFile: FileSender = ({ url: address, token, content, sizeBytes }) => {
  const url = new URL(address);
  const isSecure = url.protocol === 'https:';
  const send = isSecure ? requestHttps : requestHttp;
  // Keep-alive: if the service closed the connection right after an early answer, the answer would be lost.
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  return new Promise<OperationsAnswer>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'text/csv',
      'content-length': sizeBytes,
    };
    const request = send(url, { method: 'POST', agent, headers, timeout: ANSWER_TIMEOUT_MS });
    let isAnswered = false;
    const silent = () => {
      if (!isAnswered) reject(new ClientError(`${url.origin} does not answer, or disconnected: repeat it`));
    };
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

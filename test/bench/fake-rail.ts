import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkStatusCodes } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';

/** A question about a payment, as the rail received it. */
export interface Asked {
  readonly reference: string;
  /** By the wall clock of this process. */
  readonly atMs: number;
}

/** A stand-in for a rail: answers check-status as the simulator does (contract 4.9), and records every question. */
export interface FakeRail extends AsyncDisposable {
  readonly url: string;
  /** The questions that it has answered, in order. */
  readonly answered: readonly Asked[];
  /** Requests of any kind that came while it was down. */
  readonly refused: () => number;
  /** Makes it answer every further request with HTTP 503, or as a working rail. */
  readonly setDown: (isDown: boolean) => void;
}

/**
 * Opens a {@link FakeRail} that takes `answerMs` for each answer.
 *
 * It answers that a payment completed; for one in `pendingEvery` it answers PENDING the first time.
 */
export async function openFakeRail(options: {
  readonly answerMs: number;
  readonly pendingEvery: number;
}): Promise<FakeRail> {
  const answered: Asked[] = [];
  let refused = 0;
  let isDown = false;
  const bodyOf = (state: 'completed' | 'pending') =>
    JSON.stringify({ serverResponse: { responseDetails: checkStatusCodes[state] } });
  const [completed, pending] = [bodyOf('completed'), bodyOf('pending')];
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const atMs = Date.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = async (status: number, body: string): Promise<void> => {
        await systemClock.sleep(options.answerMs);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(body);
      };
      if (isDown) {
        refused += 1;
        return void answer(503, '{}');
      }
      if (request.url !== '/collection/v1/check-status') return void answer(404, '{}');
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { transactionReference: string };
      const reference = body.transactionReference;
      answered.push({ reference, atMs });
      const isPending = !seen.has(reference) && seen.size % options.pendingEvery === 0;
      seen.add(reference);
      return void answer(200, isPending ? pending : completed);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    refused: () => refused,
    setDown: (down) => {
      isDown = down;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

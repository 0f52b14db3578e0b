import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What is lost of the first requests: the request itself, so that it has no effect, or its answer. */
const losses = ['request', 'nothing', 'answer', 'request'] as const;

/** A way to an API on which the first requests fare as {@link losses} says. */
export async function openLossyRoad(target: string) {
  const lost: string[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const loss = losses[count] ?? 'nothing';
    count += 1;
    const lose = () => {
      lost.push(method);
      response.destroy();
    };
    if (loss === 'request') return lose();
    const passOn = async () => {
      const { host: _, connection: _hop, 'content-length': _length, ...kept } = headers;
      const answer = await fetch(`${target}${url}`, {
        method,
        headers: kept as Record<string, string>,
        ...(method === 'POST' && { body: await text(request) }),
      });
      const body = await answer.text();
      if (loss === 'answer') return lose();
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    };
    passOn().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The methods of what was lost, in order. */
    lost: (): readonly string[] => lost,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A way to an API on which the first request to each path is lost, and the answer to the second one. */
export async function openLossyRoad(target: string) {
  const attempts = new Map<string, number>();
  const lost: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const attempt = (attempts.get(url) ?? 0) + 1;
    attempts.set(url, attempt);
    const lose = () => {
      lost.push(method);
      response.destroy();
    };
    if (attempt === 1) return lose();
    const passOn = async () => {
      const { host: _, connection: _hop, 'content-length': _length, ...kept } = headers;
      const answer = await fetch(`${target}${url}`, {
        method,
        headers: kept as Record<string, string>,
        ...(method === 'POST' && { body: await text(request) }),
      });
      const body = await answer.text();
      if (attempt === 2) return lose();
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

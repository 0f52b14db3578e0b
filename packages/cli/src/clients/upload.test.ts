import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { uploadHttp } from './upload.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const work of cleanUp.splice(0)) await work();
});

const content = 'x'.repeat(10_000_000);

/** A service, and a file of 10 MB to send to it. */
async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'pesewa-'));
  const file = join(folder, 'statement.csv');
  await writeFile(file, content);
  cleanUp.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => rm(folder, { recursive: true }),
  );
  const { port } = server.address() as AddressInfo;
  const seen: number[] = [];
  return {
    seen,
    request: {
      urlOf: (sha256: string) => `http://127.0.0.1:${port}/statements?sha256=${sha256}`,
      token: 't',
      file,
      progress: (sent: number) => void seen.push(sent),
    },
  };
}

it('sends a file under its digest, and reports its progress', async () => {
  const { request, seen } = await serve((received, response) => {
    let bytes = 0;
    received.on('data', (piece: Buffer) => {
      bytes += piece.length;
    });
    received.on('end', () => response.end(JSON.stringify({ bytes, url: received.url })));
  });
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(await uploadHttp(request)).toEqual({
    status: 200,
    body: { bytes: content.length, url: `/statements?sha256=${sha256}` },
  });
  expect(seen.at(-1)).toBe(content.length);
  expect(seen.length).toBeGreaterThan(10);
});

it('takes an answer that comes before the file is sent, and sends no more', async () => {
  const { request, seen } = await serve((received, response) => {
    // As our services do: the rest of the request is read and discarded.
    setImmediate(() => received.resume());
    response.writeHead(400);
    response.end('{"code":"invalid","message":"no"}');
  });
  expect(await uploadHttp(request)).toEqual({ status: 400, body: { code: 'invalid', message: 'no' } });
  expect(seen.at(-1) ?? 0).toBeLessThan(content.length);
});

it('names the service that goes away', async () => {
  const { request } = await serve((received) => received.socket.destroy());
  await expect(uploadHttp(request)).rejects.toThrow('does not answer, or disconnected: repeat it');
});

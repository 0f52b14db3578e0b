import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { downloadHttp } from './http.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const work of cleanUp.splice(0)) await work();
});

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'pesewa-'));
  cleanUp.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => rm(folder, { recursive: true }),
  );
  const { port } = server.address() as AddressInfo;
  const file = join(folder, 'close.csv');
  const shown: (readonly [number, number | undefined])[] = [];
  const progress = (rows: number, total: number | undefined) => void shown.push([rows, total]);
  return { folder, file, shown, request: { url: `http://127.0.0.1:${port}/x`, token: 't', file, progress } };
}

it('writes what is answered to a file', async () => {
  const { folder, file, request } = await serve(({ headers }, response) => {
    response.write(`${headers.authorization}\r\n`);
    response.end('the end');
  });
  expect(await downloadHttp(request)).toEqual({ status: 200, body: undefined });
  expect(await readFile(file, 'utf8')).toBe('Bearer t\r\nthe end');
  expect(await readdir(folder)).toEqual(['close.csv']);
});

it('leaves the file as it was where the answer breaks off, or is a refusal', async () => {
  const broken = await serve((_request, response) => {
    response.write('half of it', () => response.destroy());
  });
  await writeFile(broken.file, 'as it was');
  await expect(downloadHttp(broken.request)).rejects.toThrow('could not be written completely');
  expect(await readFile(broken.file, 'utf8')).toBe('as it was');
  expect(await readdir(broken.folder)).toEqual(['close.csv']);
  const refused = await serve((_request, response) => {
    response.writeHead(404).end('{"message":"there is no such close"}');
  });
  expect(await downloadHttp(refused.request)).toEqual({
    status: 404,
    body: { message: 'there is no such close' },
  });
  expect(await readdir(refused.folder)).toEqual([]);
});

it('names a service that does not answer, not the file', async () => {
  const { request } = await serve((_, response) => void response.destroy());
  await expect(downloadHttp(request)).rejects.toThrow(
    'does not answer: start the service, or set its address',
  );
});

it('shows how many rows have arrived, and of how many where the service says so', async () => {
  const csv = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8', 'x-total-rows': '2' });
    response.end('id,why\r\n1,"two lines,\r\na ""comma"""\r\n2,one\r\n');
  });
  await downloadHttp(csv.request);
  expect(csv.shown.at(-1)).toEqual([2, 2]);
  const json = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"close":{"id":"2026-11-20"},"records":[\n', () =>
      response.end('{"why":"{\\"a\\":1}"},\n{"why":null}]}\n'),
    );
  });
  await downloadHttp(json.request);
  expect(json.shown.at(-1)).toEqual([2, undefined]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { verifyRequest } from '@pesewa/signatures';
import { afterAll, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const secret = `rqsec_${Buffer.alloc(32, 7).toString('base64')}`;
const folder = mkdtempSync(path.join(tmpdir(), 'pesewa-sign-'));
const file = path.join(folder, 'body.json');
writeFileSync(file, '{"name":"Aïcha"}');
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const NOW_MS = 1_767_225_600_123;

function signer(environment: Readonly<Record<string, string>> = { SIGNING_SECRET: secret }) {
  const line = commandLine();
  Object.assign(line.ports.environment, environment);
  Object.assign(line.ports.clock, { nowMs: () => NOW_MS });
  return line;
}

it.each([
  ['POST', '/api/v1/transactions/transfer/single', ['--body', file]],
  ['GET', '/api/v1/transactions?limit=10', ['--method', 'GET']],
])('sign-request gives the headers of %s %s', async (method, target, options) => {
  const line = signer();
  expect(await line.run('sign-request', '--path', target, ...options)).toBe(0);
  const headers = Object.fromEntries(
    line
      .printed()
      .trim()
      .split('\n')
      .map((one) => one.split(': '))
      .map(([name = '', value = '']) => [name.toLowerCase(), value]),
  ) as Record<'x-timestamp' | 'x-digest' | 'x-signature', string>;
  expect(headers['x-timestamp']).toBe('1767225600');
  expect(verifyRequest({ method, target, headers, secrets: [secret], nowMs: NOW_MS })).toEqual({
    ok: true,
    value: headers['x-digest'],
  });
  expect(line.requests).toEqual([]);
});

it.each([
  [['--path', '/a'], {}, /SIGNING_SECRET: put/],
  [['--path', 'api'], { SIGNING_SECRET: secret }, /--path: write it/],
  [['--path', '/a', '--method', 'post'], { SIGNING_SECRET: secret }, /--method: post is no method/],
  [['--path', '/a', '--body', `${file}.none`], { SIGNING_SECRET: secret }, /--body: .* can not be read/],
])('sign-request %j is refused', async (options, environment, complaint) => {
  const line = signer(environment);
  expect(await line.run('sign-request', ...options)).toBe(1);
  expect(line.complained()).toMatch(complaint);
  expect(line.printed()).toBe('');
});

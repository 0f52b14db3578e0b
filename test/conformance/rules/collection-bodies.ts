import { gzipSync } from 'node:zlib';
import { parseJson } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { collections, expectPending } from '../collections.ts';
import {
  base64,
  customerIn,
  next,
  paths,
  payinBody,
  revised,
  statusBody,
  words,
} from './collection-requests.ts';
import { rejectedAnswer } from './collection-shapes.ts';

const BYTES_MAX = 16_384;

/** A valid body whose module is computed before the body is damaged. */
function bendable() {
  const reference = next('body');
  const customerNumber = customerIn('GM');
  const module = base64(`100${reference}${customerNumber}`);
  return { reference, module, body: payinBody(reference, { customerNumber }) };
}

/** Expects that both operations with such a body refuse it, and that nothing was stored. */
async function expectUnread(bend: (body: string) => string | Buffer, type?: string | null): Promise<void> {
  const { reference, module, body } = bendable();
  const liberties = { module, ...(type !== undefined && { type }) };
  for (const operation of [collections.payin, collections.complete]) {
    const answer = await operation(bend(body), liberties);
    expect(answer).toMatchObject({ status: 400, reason: 'INVALID REQUEST', reference: '' });
    expect(answer.description).not.toBe('');
  }
  expect((await collections.check(reference)).code).toBe('25');
  const asked = bend(statusBody(reference));
  if (typeof asked !== 'string') return;
  const status = await collections.check(
    { body: asked },
    { module: base64(reference), ...(type !== undefined && { type }) },
  );
  expect(status).toMatchObject({ status: 400, code: undefined, error: 'Bad Request' });
}

describe('contract 4.7: bodies are JSON objects', () => {
  it.each(['', ' ', '{', '}', 'null', '[]', '"x"', '1', 'true', '{}', 'undefined', '[{}]'])(
    'a body of %j is refused',
    async (text) => {
      await expectUnread(() => text);
    },
  );

  it.each<readonly [string, (body: string) => string]>([
    ['a comment', (body) => body.replace('{', '{/* x */')],
    ['a trailing comma', (body) => `${body.slice(0, -1)},}`],
    ['single quotes', (body) => body.replaceAll('"', "'")],
    ['something behind it', (body) => `${body}x`],
    ['two bodies', (body) => `${body}${body}`],
    ['a byte order mark', (body) => `\ufeff${body}`],
    ['half of it', (body) => body.slice(0, -10)],
    [
      'a raw line end in a text',
      (body) => body.replace('"transactionReference":"', '"transactionReference":"\n'),
    ],
    [
      'an unknown escape',
      (body) => body.replace('"transactionReference":"', '"transactionReference":"\\x41'),
    ],
  ])('%s is refused', async (_what, bend) => {
    await expectUnread(bend);
  });

  it.each<readonly [string, (body: string) => Buffer]>([
    [
      'bytes that are no UTF-8',
      (body) => Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from([0xff, 0xfe, 125])]),
    ],
    ['Latin-1', (body) => Buffer.from(body.replace('Kofi', 'Kofí').replace('"t', '"é":1,"t'), 'latin1')],
    ['UTF-16', (body) => Buffer.from(body, 'utf16le')],
    ['gzip', (body) => gzipSync(body)],
  ])('%s is refused', async (_what, bend) => {
    await expectUnread(bend);
  });

  it.each([
    null,
    '',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/jsonp',
    'application/json, application/json',
  ])('Content-Type %j is refused', async (type) => {
    await expectUnread((body) => body, type);
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
  ])('Content-Type %s is read', async (type) => {
    expectPending(await collections.payin(payinBody(next('type')), { type }));
  });
});

describe('contract 10.17: bodies are bounded', () => {
  it('16,384 bytes are read, one more is not: with a length and in chunks', async () => {
    for (const shape of ['whole', 'chunks'] as const) {
      const sized = (body: string, bytes: number) => {
        const buffer = Buffer.from(body.padEnd(bytes, ' '));
        return shape === 'whole' ? buffer : [buffer.subarray(0, 9_000), buffer.subarray(9_000)];
      };
      const { reference, module, body } = bendable();
      const over = await collections.payin(sized(body, BYTES_MAX + 1), { module });
      expect(over).toMatchObject({ status: 400, reason: 'INVALID REQUEST' });
      expect((await collections.check(reference)).code).toBe('25');
      expectPending(await collections.payin(sized(body, BYTES_MAX), { module }));
    }
  });

  it('a body of a megabyte is refused', async () => {
    const { module, body } = bendable();
    const answer = await collections.payin(body.padEnd(1_000_000, ' '), { module });
    expect(answer).toMatchObject({ status: 400, reason: 'INVALID REQUEST' });
  });

  it.each([33, 1_000, 7_000])('nesting of %i levels is refused', async (depth) => {
    const deep = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
    await expectUnread((body) => body.replace('{', `{"deep":${deep},`));
  });

  it('nesting of 32 levels is read', async () => {
    const deep = `${'['.repeat(31)}${']'.repeat(31)}`;
    expectPending(await collections.payin(payinBody(next('deep')).replace('{', `{"deep":${deep},`)));
  });
});

describe('keys with a meaning of their own', () => {
  it('a key named twice is refused, wherever it stands', async () => {
    await expectUnread((body) => body.replace('{', '{"transactionCountry":"KE",'));
    await expectUnread((body) => body.replace('"clientId":""', '"clientId":"","clientId":"x"'));
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'then', 'length', '$where', 'a.b', ''])(
    'a further key %j is ignored',
    async (key) => {
      const entry = `{"${key}":{"customerNumber":"2209990001","status":"COMPLETED"},`;
      expectPending(await collections.payin(payinBody(next('key')).replace('{', entry)));
    },
  );

  it.each(['customerNumber', 'operatorCode', 'transactionReference', 'requestHeader'])(
    'no %s comes from a prototype',
    async (field) => {
      for (const entry of ['{"__proto__":', '{"constructor":{"prototype":']) {
        const close = entry.includes('constructor') ? '}' : '';
        const { reference, module, body } = bendable();
        const inherited = `${entry}${body}${close},${revised(body, { [field]: undefined }).slice(1)}`;
        const answer = await collections.payin(inherited, { module });
        expect(answer).toMatchObject({ status: 400, reason: 'INVALID REQUEST' });
        expect(answer.description).toContain(field);
        expect((await collections.check(reference)).code).toBe('25');
      }
    },
  );
});

describe('contract 9: the version is part of the path', () => {
  const elsewhere = words(`
    / /collection/v2/payin /collection/v1 /collection/v1/ /collection/v1/payin/ /v1/payin /COLLECTION/V1/payin
    /collection/v1/nothing /collection//v1/payin /collection/v1/%2e%2e/v1/payin /livez /metrics
    /collection/v1/check-status/../payin /collection/v1/payin;x=1
  `);

  it.each(elsewhere)('%s is nowhere', async (path) => {
    const reference = next('nowhere');
    const answer = await collections.call({ method: 'POST', path, body: payinBody(reference) });
    expect(answer.status).toBe(404);
    expect(rejectedAnswer.parse(parseJson(answer.text)).status).toBe('404');
    expect((await collections.check(reference)).code).toBe('25');
  });

  it.each(Object.values(paths))('another method than POST does nothing at %s', async (path) => {
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const answer = await collections.call({ method, path });
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      expect(rejectedAnswer.parse(parseJson(answer.text)).error).toBe('Method Not Allowed');
    }
  });
});

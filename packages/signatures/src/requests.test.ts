import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createSigningSecret,
  digestOfBody,
  signingSecretPattern,
  signRequest,
  verifyRequest,
} from './index.ts';

const secretOf = (byte: number) =>
  createSigningSecret({ bytes: (length) => new Uint8Array(length).fill(byte) });
const secret = secretOf(7);
const other = secretOf(8);
const seconds = 1_767_225_600;
const request = {
  method: 'POST',
  target: '/api/v1/wallets/balance?currency=GHS',
  body: '{"transactionReference":"order-1"}',
  seconds,
  secret,
};

const lower = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])) as Record<
    'x-timestamp' | 'x-digest' | 'x-signature',
    string
  >;
const headers = lower(signRequest(request));
const verify = (changes: Partial<Parameters<typeof verifyRequest>[0]> = {}) =>
  verifyRequest({ ...request, headers, secrets: [secret], nowMs: seconds * 1_000, ...changes });
const withHeader = (name: string, value: string | undefined) => ({ headers: { ...headers, [name]: value } });

const documentOf = (name: string) =>
  readFileSync(path.resolve(import.meta.dirname, '../../../docs', name), 'utf8');

describe('the example of contract 10.21', () => {
  const contract = documentOf('contract.md');

  it('is what we compute', () => {
    expect(headers).toEqual({
      'x-timestamp': '1767225600',
      'x-digest': '0bc24f4c4ee3b7e6750dd4ff3c430c133198dbc3bd46ae719713c0ad5597e859',
      'x-signature': 'v1=2fdf1ea7379d505a356112a60a321df1c389f75fc7270c414962310c940eb4e8',
    });
  });

  it('is in the contract', () => {
    const shown = [secret, request.target, request.body, ...Object.values(headers), digestOfBody('')];
    for (const text of shown) expect(contract).toContain(text);
  });
});

describe('verifying a request', () => {
  it('gives the digest that its body must have', () => {
    expect(verify()).toEqual({ ok: true, value: digestOfBody(request.body) });
  });

  it.each([
    ['the first of two', [secret, other], true],
    ['the second of two', [other, secret], true],
    ['one that was removed', [other], false],
    ['none', [], false],
  ])('judges a signature by the secrets that live: %s', (_, secrets, ok) => {
    expect(verify({ secrets }).ok).toBe(ok);
  });

  it.each([
    ['another method', { method: 'GET' }],
    ['another path', { target: '/api/v1/wallets/balances?currency=GHS' }],
    ['no query', { target: '/api/v1/wallets/balance' }],
    ['another query', { target: '/api/v1/wallets/balance?currency=NGN' }],
    ['another body', withHeader('x-digest', digestOfBody(`${request.body} `))],
    ['another time', withHeader('x-timestamp', String(seconds + 1))],
    ['the same time spelled otherwise', withHeader('x-timestamp', `0${seconds}`)],
    ['another secret', { headers: lower(signRequest({ ...request, secret: other })) }],
  ])('refuses %s', (_, changes) => {
    expect(verify(changes)).toEqual({
      ok: false,
      refusal: expect.stringMatching(/^X-signature is wrong/) as string,
    });
  });

  it('takes the parameters of a query in the order in which they are sent alone', () => {
    const sent = { ...request, target: '/a?b=1&c=2' };
    const signed = { ...sent, headers: lower(signRequest(sent)) };
    expect(verify(signed).ok).toBe(true);
    expect(verify({ ...signed, target: '/a?c=2&b=1' }).ok).toBe(false);
  });

  it.each([
    ['x-signature', undefined, 'X-signature is missing'],
    ['x-signature', '', 'X-signature must be'],
    ['x-signature', 'v2=' + '0'.repeat(64), 'X-signature must be'],
    ['x-signature', `v1=${'0'.repeat(63)}`, 'X-signature must be'],
    ['x-signature', headers['x-signature'].toUpperCase(), 'X-signature must be'],
    ['x-signature', `${headers['x-signature']}, ${headers['x-signature']}`, 'X-signature must be'],
    ['x-timestamp', undefined, 'X-timestamp must be'],
    ['x-timestamp', '2026-01-01T00:00:00Z', 'X-timestamp must be'],
    ['x-timestamp', '-1', 'X-timestamp must be'],
    ['x-timestamp', `${seconds}.5`, 'X-timestamp must be'],
    ['x-digest', undefined, 'X-digest must be'],
    ['x-digest', 'e3b0', 'X-digest must be'],
    ['x-digest', headers['x-digest'].toUpperCase(), 'X-digest must be'],
  ])('names %s if it is %s', (name, value, message) => {
    const refused = verify(withHeader(name, value));
    expect(refused).toEqual({ ok: false, refusal: expect.stringContaining(message) as string });
  });

  it.each([
    [0, true],
    [300_000, true],
    [-300_000, true],
    [300_001, false],
    [-300_001, false],
  ])('judges a clock %d ms away', (awayMs, ok) => {
    const judged = verify({ nowMs: seconds * 1_000 + awayMs });
    expect(judged.ok ? 'taken' : judged.refusal).toMatch(
      ok ? /^taken$/ : /^X-timestamp is more than 300 s away/,
    );
  });

  it('shows no secret', () => {
    for (const judged of [verify({ secrets: [other] }), verify(withHeader('x-digest', 'e3b0'))])
      expect(JSON.stringify(judged)).not.toMatch(/rqsec_|[0-9a-f]{16}/);
  });
});

it('secrets are rqsec_ and the Base64 of 32 bytes', () => {
  expect(secret).toMatch(/^rqsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).toMatch(signingSecretPattern);
});

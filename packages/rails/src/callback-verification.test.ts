import { createWebhookSecret, signWebhook } from '@pesewa/signatures';
import { describe, expect, it } from 'vitest';
import { answering, createRailFixture, START_MS } from './rails.fixture.ts';

const secretOf = (byte: number) =>
  createWebhookSecret({ bytes: (length) => new Uint8Array(length).fill(byte) });
const [current, next, foreign] = [secretOf(1), secretOf(2), secretOf(3)];
const body = '{"amount":100.00,"name":"Aïcha"}';
const startSeconds = START_MS / 1_000;

type Headers = readonly { readonly name: string; readonly value: string }[];

const signed = (
  change: { readonly secrets?: readonly string[]; readonly timestamp?: number } = {},
): Headers =>
  Object.entries({
    ...signWebhook({ id: 'msg-1', timestamp: startSeconds, body, secrets: [current], ...change }),
  }).map(([name, value]) => ({ name, value }));
const changed = (name: string, value: string): Headers => [
  ...signed().filter((header) => header.name !== name),
  { name, value },
];
const without = (name: string): Headers => signed().filter((header) => header.name !== name);
const twice = (name: string): Headers => [...signed(), ...signed().filter((header) => header.name === name)];
const valueOf = (headers: Headers, name: string) =>
  headers.find((header) => header.name === name)?.value ?? '';
const joined = (name: string): Headers => {
  const value = valueOf(signed(), name);
  return changed(name, `${value}, ${value}`);
};

const judge = (
  settings: object,
  evidence: { headers?: Headers; body?: string | Uint8Array; clientAddress?: string } = {},
  awayMs = 0,
) => {
  const { rail } = createRailFixture(answering(200, ''), settings);
  return rail.verifyCallback({
    headers: evidence.headers ?? signed(),
    body: Buffer.from(evidence.body ?? body),
    clientAddress: evidence.clientAddress,
    receivedAtMs: START_MS + awayMs,
  });
};
const verdictOn = (...given: Parameters<typeof judge>) => judge(...given).signature;
const oneSecret = { callbackSecrets: [current] };

describe('the signature of a callback (contract 10.16)', () => {
  it('verifies over the bytes as they came, and vouches for the id', () => {
    expect(judge(oneSecret)).toEqual({
      address: 'any',
      signature: 'verified',
      messageId: 'msg-1',
      proven: false,
    });
  });

  it('makes a fact only where the rail is configured as proven', () => {
    expect(judge({ ...oneSecret, callbacks: 'proven' }).proven).toBe(true);
    expect(judge({ ...oneSecret, callbacks: 'proven' }, { headers: [] }).proven).toBe(false);
    expect(judge({ ...oneSecret, callbacks: 'hint' }).proven).toBe(false);
  });

  it('is ignored without a secret, and so is its id', () => {
    const verdict = { address: 'any', signature: 'not_required', messageId: null, proven: false };
    expect(judge({})).toEqual(verdict);
    expect(judge({}, { headers: [] })).toEqual(verdict);
  });

  it('verifies with the old and the new secret while they rotate', () => {
    const both = { callbackSecrets: [next, current] };
    expect(verdictOn(both)).toBe('verified');
    expect(verdictOn(both, { headers: signed({ secrets: [next] }) })).toBe('verified');
    expect(verdictOn(oneSecret, { headers: signed({ secrets: [next, current] }) })).toBe('verified');
    expect(verdictOn(oneSecret, { headers: signed({ secrets: [next] }) })).toBe('wrong');
  });

  it.each([
    ['re-serialised JSON', JSON.stringify(JSON.parse(body))],
    ['one byte more', `${body}\n`],
    ['a byte order mark before', `\ufeff${body}`],
    ['nothing', ''],
    ['bytes that are no text', Uint8Array.of(0xff, 0xfe)],
  ])('does not verify over %s', (_, other) => {
    expect(verdictOn(oneSecret, { body: other })).toBe('wrong');
  });

  it.each<readonly [string, Headers, string]>([
    ['no header at all', [], 'missing'],
    ['no id', without('webhook-id'), 'missing'],
    ['no timestamp', without('webhook-timestamp'), 'missing'],
    ['no signature', without('webhook-signature'), 'missing'],
    ['an empty signature', changed('webhook-signature', ''), 'missing'],
    ['the secret of another rail', signed({ secrets: [foreign] }), 'wrong'],
    ['another id', changed('webhook-id', 'msg-2'), 'wrong'],
    ['another timestamp', changed('webhook-timestamp', String(startSeconds + 1)), 'wrong'],
    ['a timestamp before the epoch', changed('webhook-timestamp', '-1'), 'wrong'],
    ['a timestamp of letters', changed('webhook-timestamp', 'now'), 'wrong'],
    ['a timestamp in milliseconds', changed('webhook-timestamp', String(START_MS)), 'wrong'],
    ['no algorithm', changed('webhook-signature', 'v1'), 'wrong'],
    ['the algorithm of public keys', changed('webhook-signature', 'v1a,AAAA'), 'wrong'],
    [
      'another algorithm over the same bytes',
      changed('webhook-signature', valueOf(signed(), 'webhook-signature').replace('v1,', 'v2,')),
      'wrong',
    ],
    ['garbage', changed('webhook-signature', '%'.repeat(4_096)), 'wrong'],
    ['the id twice', twice('webhook-id'), 'wrong'],
    ['the timestamp twice', twice('webhook-timestamp'), 'wrong'],
    ['the signature twice', twice('webhook-signature'), 'wrong'],
    ['the id twice in one', joined('webhook-id'), 'wrong'],
    ['the timestamp twice in one', joined('webhook-timestamp'), 'wrong'],
    ['the signature twice in one', joined('webhook-signature'), 'wrong'],
  ])('proves nothing with %s', (_, headers, signature) => {
    expect(judge(oneSecret, { headers })).toMatchObject({ signature, messageId: null, proven: false });
  });

  it('is found under names in any case', () => {
    const headers = signed().map(({ name, value }) => ({ name: name.toUpperCase(), value }));
    expect(verdictOn(oneSecret, { headers })).toBe('verified');
  });

  it.each([
    [0, 'verified'],
    [300_000, 'verified'],
    [-300_000, 'verified'],
    [300_001, 'expired'],
    [-300_001, 'expired'],
    [86_400_000, 'expired'],
  ])('judged %d ms later is %s', (awayMs, signature) => {
    expect(verdictOn(oneSecret, {}, awayMs)).toBe(signature);
  });
});

describe('the address of a callback', () => {
  const listed = { callbackAddresses: ['203.0.113.0/24', '2001:db8::/32'] };
  it.each([
    [listed, '203.0.113.7', 'allowed'],
    [listed, '::ffff:203.0.113.7', 'allowed'],
    [listed, '2001:db8::7', 'allowed'],
    [listed, '198.51.100.9', 'unlisted'],
    [listed, undefined, 'unlisted'],
    [{}, '198.51.100.9', 'any'],
    [{}, undefined, 'any'],
  ])('of a rail with %j, %s, is %s', (settings, clientAddress, address) => {
    expect(judge(settings, clientAddress === undefined ? {} : { clientAddress }).address).toBe(address);
  });
});

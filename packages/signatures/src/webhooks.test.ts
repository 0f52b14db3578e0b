import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createWebhookSecret, signWebhook, verifyWebhook } from './index.ts';

// The vector of the Standard Webhooks reference libraries.
const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  seconds: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const other = createWebhookSecret({ bytes: (length) => new Uint8Array(length).fill(7) });
const message = { id: vector.id, timestamp: vector.seconds, body: vector.body };
const moment = { nowMs: vector.seconds * 1000, toleranceSeconds: 300 };
const headersOf = (secrets: readonly string[]) => ({ ...signWebhook({ ...message, secrets }) });

describe('signing', () => {
  it('makes the known signature', () => {
    expect(signWebhook({ ...message, secrets: [vector.secret] })).toEqual({
      'webhook-id': vector.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': vector.signature,
    });
  });

  it('is an HMAC over id, timestamp and body', () => {
    const key = Buffer.from(vector.secret.slice('whsec_'.length), 'base64');
    const text = `${vector.id}.${vector.seconds}.{"name":"Aïcha"}`;
    const expected = createHmac('sha256', key).update(text).digest('base64');
    const signed = signWebhook({ ...message, body: '{"name":"Aïcha"}', secrets: [vector.secret] });
    expect(signed['webhook-signature']).toBe(`v1,${expected}`);
  });

  it('takes a date as well, and cuts its milliseconds', () => {
    const timestamp = new Date(vector.seconds * 1000 + 999);
    expect(signWebhook({ ...message, timestamp, secrets: [vector.secret] })['webhook-signature']).toBe(
      vector.signature,
    );
  });

  it('signs with every secret while they rotate, the newest first', () => {
    const [first, second, ...rest] = headersOf([other, vector.secret])['webhook-signature'].split(' ');
    expect(second).toBe(vector.signature);
    expect(first).not.toBe(vector.signature);
    expect(rest).toEqual([]);
  });

  it('does not send unsigned', () => {
    expect(() => headersOf([])).toThrow(RangeError);
  });
});

describe('verifying', () => {
  it.each([
    ['the only secret', [vector.secret], [vector.secret]],
    ['a receiver that still has the old secret', [other, vector.secret], [vector.secret]],
    ['a receiver that has both', [other], [vector.secret, other]],
  ])('accepts with %s', (_, signedWith, knows) => {
    expect(
      verifyWebhook({ headers: headersOf(signedWith), body: vector.body, secrets: knows, ...moment }),
    ).toEqual({
      ok: true,
      value: { id: vector.id, timestampMs: moment.nowMs },
    });
  });

  it('judges bytes as they are', () => {
    const verify = (body: Uint8Array) =>
      verifyWebhook({ headers: headersOf([vector.secret]), body, secrets: [vector.secret], ...moment }).ok;
    expect(verify(Buffer.from(vector.body))).toBe(true);
    expect(verify(Buffer.from(`\ufeff${vector.body}`))).toBe(false);
  });

  const good = headersOf([vector.secret]);
  it.each([
    ['another body', good, `${vector.body} `, 'signature.wrong'],
    ['another id', { ...good, 'webhook-id': 'msg_2' }, vector.body, 'signature.wrong'],
    ['another timestamp', { ...good, 'webhook-timestamp': '1614265331' }, vector.body, 'signature.wrong'],
    [
      'another version',
      { ...good, 'webhook-signature': vector.signature.replace('v1', 'v2') },
      vector.body,
      'signature.wrong',
    ],
    ['another secret', headersOf([other]), vector.body, 'signature.wrong'],
    ['no signature', { ...good, 'webhook-signature': undefined }, vector.body, 'signature.missing'],
    ['no id', { ...good, 'webhook-id': '' }, vector.body, 'signature.missing'],
    ['a timestamp of letters', { ...good, 'webhook-timestamp': 'now' }, vector.body, 'signature.malformed'],
  ])('refuses %s', (_, headers, body, refusal) => {
    expect(verifyWebhook({ headers, body, secrets: [vector.secret], ...moment })).toEqual({
      ok: false,
      refusal,
    });
  });

  it('refuses without any secret', () => {
    expect(verifyWebhook({ headers: good, body: vector.body, secrets: [], ...moment }).ok).toBe(false);
  });

  it.each([
    [300_000, true],
    [-300_000, true],
    [301_000, false],
    [-301_000, false],
  ])('judges a clock %d ms away', (awayMs, ok) => {
    const nowMs = moment.nowMs + awayMs;
    const verified = verifyWebhook({
      headers: good,
      body: vector.body,
      secrets: [vector.secret],
      ...moment,
      nowMs,
    });
    expect(verified.ok).toBe(ok);
  });
});

describe('secrets', () => {
  it('are whsec_ and the Base64 of 32 bytes', () => {
    expect(other).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(other.slice('whsec_'.length), 'base64')).toEqual(Buffer.alloc(32, 7));
  });
});

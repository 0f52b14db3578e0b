import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { accept, type Random, type Result, refuse } from '@pesewa/kernel';
import { Webhook } from 'standardwebhooks';

const SECRET_BYTES = 32;
const SIGNATURES_MAX = 16;
const TIMESTAMP = /^\d{1,12}$/;

/** The three headers of a signed webhook (Standard Webhooks; contract 10.15). */
export interface WebhookHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/** Why a webhook's signature proves nothing. */
export type SignatureRefusal =
  | 'signature.missing'
  | 'signature.malformed'
  | 'signature.stale'
  | 'signature.wrong';

/** Makes a new secret: `whsec_` and the Base64 of 32 bytes of chance. */
export function createWebhookSecret(random: Pick<Random, 'bytes'>): string {
  return `whsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64')}`;
}

/**
 * Signs the exact text of a webhook, once with each secret, so that a receiver can verify it with the old secret or
 * the new one.
 *
 * The id is the same for all attempts of a delivery; the timestamp (a date, or seconds since the epoch) is that of
 * the attempt. Throws if there is no secret, or if one is not Base64.
 */
export function signWebhook(message: {
  readonly id: string;
  readonly timestamp: Date | number;
  readonly body: string;
  readonly secrets: readonly string[];
}): WebhookHeaders {
  const { id, body, secrets } = message;
  if (secrets.length === 0) throw new RangeError('a webhook needs a secret to be signed with');
  const timestamp =
    typeof message.timestamp === 'number' ? new Date(message.timestamp * 1000) : message.timestamp;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, timestamp, body)).join(' '),
  };
}

/**
 * Verifies a webhook's signature over its exact text or bytes; any of the secrets may have made it.
 *
 * The library's own verification reads the machine's clock and accepts only text, so only its signing is used: the
 * signature is checked before the body is even decoded. Header names are expected in lower case.
 */
export function verifyWebhook(message: {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string | Uint8Array;
  readonly secrets: readonly string[];
  readonly nowMs: number;
  readonly toleranceSeconds: number;
}): Result<{ readonly id: string; readonly timestampMs: number }, SignatureRefusal> {
  const id = message.headers['webhook-id'];
  const seconds = message.headers['webhook-timestamp'];
  const signatures = message.headers['webhook-signature'];
  if (!id || !signatures || !seconds) return refuse('signature.missing');
  if (!TIMESTAMP.test(seconds)) return refuse('signature.malformed');
  const timestampMs = Number(seconds) * 1000;
  if (Math.abs(message.nowMs - timestampMs) > message.toleranceSeconds * 1000)
    return refuse('signature.stale');
  const given = signatures.split(' ').slice(0, SIGNATURES_MAX);
  const proven = message.secrets.some((secret) => {
    const expected = expectedSignature({ ...message, id, seconds, secret });
    return given.some((signature) => equalInConstantTime(signature, expected));
  });
  return proven ? accept({ id, timestampMs }) : refuse('signature.wrong');
}

function expectedSignature(message: {
  readonly id: string;
  readonly seconds: string;
  readonly body: string | Uint8Array;
  readonly secret: string;
}): string {
  // A key as bytes takes createHmac twice as long.
  const key = createSecretKey(message.secret.replace(/^whsec_/, ''), 'base64');
  const hmac = createHmac('sha256', key).update(`${message.id}.${message.seconds}.`).update(message.body);
  return `v1,${hmac.digest('base64')}`;
}

function equalInConstantTime(left: string, right: string): boolean {
  const leftBytes = Buffer.from(left);
  const rightBytes = Buffer.from(right);
  return leftBytes.byteLength === rightBytes.byteLength && timingSafeEqual(leftBytes, rightBytes);
}

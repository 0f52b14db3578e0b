// Signs a rail's callback.
import { createHmac } from 'node:crypto';

/** The headers of a callback; give the same id for each try of the same callback. */
export function signed(id, text, secret) {
  const timestamp = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
}

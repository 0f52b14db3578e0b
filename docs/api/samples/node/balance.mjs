// Asks for a balance with a signed request: PAYOUT_API=… PUBLIC_KEY=… SIGNING_SECRET=… node balance.mjs
import { createHash, createHmac } from 'node:crypto';

const { PAYOUT_API, PUBLIC_KEY, SIGNING_SECRET } = process.env;
if (!PAYOUT_API || !PUBLIC_KEY || !SIGNING_SECRET)
  throw new Error('set PAYOUT_API, PUBLIC_KEY and SIGNING_SECRET');

/** The headers of a request with exactly this path and query, from /api/v1/ or /collection/v1/ on, and this body. */
function signatureHeaders(method, path, body) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const digest = createHash('sha256').update(body).digest('hex');
  const text = ['v1', timestamp, method, path, digest].join('\n');
  const signature = createHmac('sha256', SIGNING_SECRET).update(text).digest('hex');
  return { 'X-timestamp': timestamp, 'X-digest': digest, 'X-signature': `v1=${signature}` };
}

const method = 'POST';
const path = '/api/v1/wallets/balance?currency=GHS';
const headers = {
  'x-api-key': Buffer.from(PUBLIC_KEY).toString('base64'),
  ...signatureHeaders(method, path, ''), // this request has no body
};
const response = await fetch(PAYOUT_API + path, { method, headers, signal: AbortSignal.timeout(15_000) });
const answer = await response.json();
if (answer.responseCode !== '00') throw new Error(`${answer.responseCode} ${answer.responseMessage}`);
console.log(answer.responseData[0].currencyCode, answer.responseData[0].balance);

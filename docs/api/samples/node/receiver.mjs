// Receives webhooks: WEBHOOK_SECRET=… PORT=8080 node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET, PORT = '8080' } = process.env;
if (!WEBHOOK_SECRET) throw new Error('set WEBHOOK_SECRET');
const key = Buffer.from(WEBHOOK_SECRET.replace('whsec_', ''), 'base64');

/** True if the exact text was signed with the secret within the last five minutes. */
function isFromPesewa(headers, text) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest();
  const signatures = (headers['webhook-signature'] ?? '').split(' ');
  return (
    isFresh &&
    signatures.some((signature) => {
      const given = Buffer.from(signature.replace('v1,', ''), 'base64');
      return given.length === expected.length && timingSafeEqual(given, expected);
    })
  );
}

const stored = new Map(); // in your database, with a unique key

async function receive(request, response) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > 100_000) return response.writeHead(413).end(); // no webhook is as long
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (!isFromPesewa(request.headers, text)) return response.writeHead(401).end();
  const id = request.headers['webhook-id'];
  const isNew = !stored.has(id);
  if (isNew) stored.set(id, text);
  response.writeHead(200).end();
  if (isNew) work(JSON.parse(text));
}

function work(webhook) {
  const { data } = webhook;
  if (data)
    console.log(data.merchantReference, data.transactionStatus); // a payout
  else console.log(webhook.merchant_reference, webhook.status); // a collection
}

// A request that is cut off must not end the process.
createServer((request, response) => receive(request, response).catch(() => response.destroy())).listen(PORT);

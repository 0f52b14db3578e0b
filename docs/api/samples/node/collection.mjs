// Collects by STK push and waits for the end: COLLECTION_API=… PUBLIC_KEY=… node collection.mjs order-1
import { setTimeout as sleep } from 'node:timers/promises';

const { COLLECTION_API, PUBLIC_KEY } = process.env;
const [reference] = process.argv.slice(2);
if (!COLLECTION_API || !PUBLIC_KEY || !reference)
  throw new Error('set COLLECTION_API and PUBLIC_KEY, name a reference');

// Store the reference before you send it. After a crash, run all of this again with it.
const payin = {
  requestHeader: { requestType: 'Collections' },
  customerNumber: '2250701021234',
  transactionReference: reference,
  transactionAmount: 1500,
  transactionCurrency: 'XOF',
  transactionCountry: 'CI',
  operatorCode: 'CIMTN',
};
const { requestHeader, transactionReference, transactionCountry } = payin;
const question = { requestHeader, transactionReference, transactionCountry };
// The amount exactly as the body writes it, the reference, the number; of a status check the reference alone.
const payinModule = `${JSON.stringify(payin.transactionAmount)}${reference}${payin.customerNumber}`;

const base64 = (text) => Buffer.from(text).toString('base64');

/** The answer; an empty one if there is none. */
async function send(path, module, body) {
  const keys = { 'X-module': base64(module), 'X-business': base64(PUBLIC_KEY), 'X-app': 'api' };
  const request = {
    method: 'POST',
    headers: { ...keys, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  };
  const response = await fetch(`${COLLECTION_API}/collection/v1/${path}`, request).catch(() => undefined);
  return response?.json().catch(() => ({})) ?? {};
}

const passing = ['TOO MANY REQUESTS', 'SERVICE UNAVAILABLE', 'INTERNAL ERROR'];

let state = { responseCode: '25' }; // nothing is recorded yet
for (let attempt = 0; !['00', '06'].includes(state.responseCode); attempt += 1) {
  // Waits 1 s, 2 s, 4 s and so on up to a minute, with some jitter.
  if (attempt > 0) await sleep(Math.min(2 ** (attempt - 1), 60) * 1000 * (0.75 + Math.random() / 2));
  const { responseDetails: answer } =
    state.responseCode === '25' ? await send('payin', payinModule, payin) : {};
  // Whatever the answer was, or if it was lost: the status is known. In production wait for the webhook first.
  const found = await send('check-status', reference, question);
  state = found.serverResponse?.responseDetails ?? {};
  const isRefused = answer?.failedReason && !passing.includes(answer.failedReason);
  if (isRefused && (state.responseCode === '25' || found.status === 400))
    throw new Error(`${answer.failedReason}: ${answer.statusDescription}`);
  if (found.status === 400) throw new Error('the status check is refused: see its key and headers');
}
console.log(reference, state.responseMessage); // the webhook has the amount that was paid

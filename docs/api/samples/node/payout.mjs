// Requests a payout and waits for its end: PAYOUT_API=… PUBLIC_KEY=… node payout.mjs inv-1002
import { setTimeout as sleep } from 'node:timers/promises';

const { PAYOUT_API, PUBLIC_KEY } = process.env;
const [reference] = process.argv.slice(2);
if (!PAYOUT_API || !PUBLIC_KEY || !reference)
  throw new Error('set PAYOUT_API and PUBLIC_KEY, name a reference');

// Store reference and body before you send them. After a crash, run all of this again with both.
const payout = JSON.stringify({
  transactionReference: reference,
  country: 'Ghana',
  currency: 'GHS',
  channel: 'Mobile Money',
  beneficiary: { accountName: 'Ama Mensah', accountNumber: '0240001234', bankCode: 'GHMTN', amount: 25.5 },
  sender: { name: 'Demo Merchant', email: 'payouts@example.com' },
});

/** The answer; undefined if there is none, or if it says to ask again. */
async function send(path, body) {
  const headers = {
    'x-api-key': Buffer.from(PUBLIC_KEY).toString('base64'),
    'content-type': 'application/json',
  };
  const request = { method: body ? 'POST' : 'GET', headers, body, signal: AbortSignal.timeout(15_000) };
  try {
    const answer = await (await fetch(`${PAYOUT_API}/api/v1/transactions/${path}`, request)).json();
    return ['65', '91', '96', undefined].includes(answer.responseCode) ? undefined : answer;
  } catch {
    return undefined;
  }
}

const refusalIn = ({ responseCode, responseMessage }) => new Error(`${responseCode} ${responseMessage}`);

/** Waits 1 s, 2 s, 4 s and so on up to a minute, with some jitter. */
const pause = (attempt) => sleep(Math.min(2 ** attempt, 60) * 1000 * (0.75 + Math.random() / 2));

let isStored = false;
let status = 'INITIALIZED';
for (let attempt = 0; status === 'INITIALIZED'; attempt += 1) {
  if (attempt > 0) await pause(attempt - 1);
  // Sent again under the same reference, it is still one payout.
  const answer = isStored ? undefined : await send('transfer/single', payout);
  if (answer?.responseCode === '94') throw refusalIn(answer); // another payout has this reference
  // Whatever the answer was, or if it was lost: the lookup knows. In production wait for the webhook first.
  const found = await send(`${encodeURIComponent(reference)}/query`);
  isStored = found?.responseCode !== '25'; // if the lookup was lost too, look it up again
  if (!isStored && answer && answer.responseCode !== '09') throw refusalIn(answer);
  if (found && isStored && found.responseCode !== '00') throw refusalIn(found);
  status = found?.responseData?.transactionStatus ?? status;
}
console.log(reference, status);

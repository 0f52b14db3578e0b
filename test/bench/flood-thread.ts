import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import type { Flooded, FloodOptions } from './flood.ts';

// The thread of flood.ts: sends at a constant rate until it is told to end, and then says what came of it.

const CONNECTIONS = 64;
/** Who floods does not wait, but keeps no more than so many on their way. */
const ON_THEIR_WAY_MAX = 1_000;
const TICK_MS = 5;
const MS_PER_SECOND = 1_000;

const { url, perSecond } = workerData as FloodOptions;
const { origin, pathname: path } = new URL(url);
const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
const answers: Record<string, number> = {};
const onTheirWay = new Set<Promise<void>>();
let made = 0;

function count(what: string): void {
  answers[what] = (answers[what] ?? 0) + 1;
}

/** As the simulated upstream sends it (contract 6.1), with a signature by another secret. */
async function send(): Promise<void> {
  const id = randomBytes(16).toString('hex');
  const body = JSON.stringify({
    data: {
      transactionReference: `UP-${id}`,
      merchantReference: `po-${id}`,
      transactionStatus: 'COMPLETED',
      amount: 1_500,
      feeAmount: 8,
      statusReason: 'Successful',
    },
  });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(Date.now() / MS_PER_SECOND)),
    'webhook-signature': `v1,${Buffer.from(id).toString('base64')}`,
  };
  try {
    const answer = await pool.request({ path, method: 'POST', headers, body });
    await answer.body.dump();
    count(`HTTP ${answer.statusCode}`);
  } catch {
    count('no answer');
  }
}

const startedMs = performance.now();
const sending = setInterval(() => {
  const due = ((performance.now() - startedMs) * perSecond) / MS_PER_SECOND;
  for (; made < due; made += 1) {
    if (onTheirWay.size >= ON_THEIR_WAY_MAX) count('not sent');
    else {
      const sent = send().finally(() => onTheirWay.delete(sent));
      onTheirWay.add(sent);
    }
  }
}, TICK_MS);

parentPort?.once('message', () => {
  clearInterval(sending);
  const seconds = (performance.now() - startedMs) / MS_PER_SECOND;
  void Promise.all(onTheirWay).then(() => {
    const flooded: Flooded = { seconds, answers };
    parentPort?.postMessage(flooded);
  });
});

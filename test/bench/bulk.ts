import { randomBytes } from 'node:crypto';
import { payoutBody } from '@pesewa/contracts';
import { batchBody, type PayoutRequest, postJson } from '@pesewa/stack';
import type { BenchOptions } from './bench.ts';
import { forSeconds, type Load, type LoadOptions, sendLoad } from './load.ts';
import { against, alone, median, type Row } from './rows.ts';
import { openService } from './single.ts';

const ROUNDS = 5;
const ITEMS = 10_000;
const QUIET_SECONDS = 3;
/** Enough to measure latency, few enough not to use up the machine. */
const CONNECTIONS = 4;
const MS_PER_SECOND = 1_000;

/** The longest that the answer to a full batch may take. */
const PROMISED_SECONDS = 2;

/** How long a full batch takes to accept, and how it affects the single payouts of another merchant. */
export async function benchBulk(options: BenchOptions): Promise<readonly Row[]> {
  await using gateway = await openService({ ...options, name: 'payout-gateway' });
  const singles = singlesOf(gateway.url, gateway.publicKey);
  await sendLoad({ ...singles, goOn: forSeconds(2) });
  const seconds: number[] = [];
  const quiet: Load[] = [];
  const meanwhile: Load[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    options.log(round === 0 ? 'bulk: warming up' : `bulk: round ${round} of ${ROUNDS}`);
    const alone = await sendLoad({ ...singles, goOn: forSeconds(QUIET_SECONDS) });
    const { took, load } = await sendBatch(gateway.url, gateway.merchants, singles);
    if (round === 0) continue;
    quiet.push(alone);
    seconds.push(took);
    meanwhile.push(load);
  }
  return rowsOf(seconds, quiet, meanwhile);
}

function singlesOf(url: string, publicKey: string): Omit<LoadOptions, 'goOn'> {
  const run = randomBytes(3).toString('hex');
  let count = 0;
  return {
    url: `${url}/api/v1/transactions/transfer/single`,
    headers: { 'x-api-key': Buffer.from(publicKey).toString('base64') },
    connections: CONNECTIONS,
    body: () => {
      count += 1;
      return payoutBody({ reference: `single-${run}-${count}`, amount: '1.50', accountNumber: '0123456789' });
    },
  };
}

/** Sends one full batch of the second merchant while the first one's payouts go on. */
async function sendBatch(
  url: string,
  merchants: readonly { readonly publicKey: string }[],
  singles: Omit<LoadOptions, 'goOn'>,
): Promise<{ readonly took: number; readonly load: Load }> {
  const run = randomBytes(3).toString('hex');
  const requests = Array.from(
    { length: ITEMS },
    (_, index): PayoutRequest => ({
      reference: `item-${run}-${index}`,
      amount: '1',
      accountNumber: '0123456789',
    }),
  );
  const body = batchBody(`batch-${run}`, requests);
  const key = Buffer.from(merchants[1]?.publicKey ?? '').toString('base64');
  let going = true;
  const load = sendLoad({ ...singles, goOn: () => going });
  const startedMs = performance.now();
  const answer = await postJson(`${url}/api/v1/transactions/transfer/bulk`, body, { 'x-api-key': key });
  const took = (performance.now() - startedMs) / MS_PER_SECOND;
  going = false;
  if (answer.status !== 200) throw new Error(`the batch was refused: ${answer.text.slice(0, 200)}`);
  return { took, load: await load };
}

function rowsOf(
  seconds: readonly number[],
  quiet: readonly Load[],
  meanwhile: readonly Load[],
): readonly Row[] {
  const middle = (loads: readonly Load[], of: 'p50Ms' | 'p99Ms') => median(loads.map((load) => load[of]));
  const latency = (of: 'p50Ms' | 'p99Ms') =>
    against({
      name: `bulk.others.${of.slice(0, 3)}`,
      value: middle(meanwhile, of),
      unit: 'ms',
      floor: middle(quiet, of),
      detail: "another merchant's single payouts while a batch is accepted; floor: without it",
    });
  const worst = Math.max(...seconds);
  return [
    against({
      name: 'bulk',
      value: median(seconds),
      unit: 's',
      floor: PROMISED_SECONDS,
      detail: `${ITEMS.toLocaleString('en')} payouts in one request, the slowest of ${ROUNDS} in ${worst.toFixed(2)} s; floor: what is promised`,
    }),
    alone({
      name: 'bulk.rate',
      value: ITEMS / median(seconds),
      unit: 'payouts/s',
      detail: `beside ${CONNECTIONS} connections of single payouts`,
    }),
    latency('p50Ms'),
    latency('p99Ms'),
  ];
}

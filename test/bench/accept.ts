import { randomBytes } from 'node:crypto';
import { payoutBody } from '@pesewa/contracts';

import type { BenchOptions } from './bench.ts';
import { openFloorServer } from './floors.ts';
import { forSeconds, type Load, sendLoad } from './load.ts';
import { against, median, type Row } from './rows.ts';
import { openService } from './single.ts';

const ROUNDS = 3;
const SECONDS = 5;
const WARM_UP_SECONDS = 2;

/**
 * Accepted payouts per second of the real payout gateway, against a bare Hono server with one majority insert per
 * request.
 */
export async function benchAccept(options: BenchOptions): Promise<readonly Row[]> {
  await using gateway = await openService({ ...options, name: 'payout-gateway' });
  const floorUrl = await openFloorServer(options);
  const run = randomBytes(3).toString('hex');
  let count = 0;
  const body = (): string => {
    count += 1;
    return payoutBody({ reference: `bench-${run}-${count}`, amount: '12.50', accountNumber: '0123456789' });
  };
  const key = Buffer.from(gateway.publicKey).toString('base64');
  const floor = { url: floorUrl, headers: {}, body, goOn: forSeconds(SECONDS) };
  const accept = {
    url: `${gateway.url}/api/v1/transactions/transfer/single`,
    headers: { 'x-api-key': key },
    body,
    goOn: forSeconds(SECONDS),
  };
  await sendLoad({ ...floor, goOn: forSeconds(WARM_UP_SECONDS) });
  await sendLoad({ ...accept, goOn: forSeconds(WARM_UP_SECONDS) });
  const floors: Load[] = [];
  const accepts: Load[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    options.log(`accept: round ${round} of ${ROUNDS}`);
    floors.push(await sendLoad(floor));
    accepts.push(await sendLoad(accept));
  }
  const refused = accepts.reduce((sum, load) => sum + load.refused, 0);
  const middle = (loads: readonly Load[], of: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    median(loads.map((load) => load[of]));
  const floorDetail = 'floor: Hono + insertOne majority, 64 connections';
  return [
    against({
      name: 'accept',
      value: middle(accepts, 'perSecond'),
      unit: 'payouts/s',
      floor: middle(floors, 'perSecond'),
      detail: `${refused} refused; ${floorDetail}`,
    }),
    against({
      name: 'accept.p99',
      value: middle(accepts, 'p99Ms'),
      unit: 'ms',
      floor: middle(floors, 'p99Ms'),
      detail: `p50 ${middle(accepts, 'p50Ms')} ms against ${middle(floors, 'p50Ms')} ms; lower is better`,
    }),
  ];
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { exchange, holdPorts, openService, payoutBody, waitUntil } from '@pesewa/stack';
import type { BenchOptions } from './bench.ts';
import { type Load, postLoad } from './load.ts';
import { against, median, type Row } from './rows.ts';

const ROUNDS = 3;
const SECONDS = 5;

/** Accepts per second of the real payout gateway against a bare Hono server with one majority insert per request. */
export async function benchAccept(options: BenchOptions): Promise<readonly Row[]> {
  await using gateway = await openService({ ...options, name: 'payout-gateway' });
  const floorUrl = await openFloor(options);
  const run = randomBytes(3).toString('hex');
  let count = 0;
  const body = (): string => {
    count += 1;
    return payoutBody({ reference: `bench-${run}-${count}`, amount: '12.50', accountNumber: '0123456789' });
  };
  const key = Buffer.from(gateway.publicKey).toString('base64');
  const floor = { url: floorUrl, headers: {}, body, seconds: SECONDS };
  const accept = {
    url: `${gateway.url}/api/v1/transactions/transfer/single`,
    headers: { 'x-api-key': key },
    body,
    seconds: SECONDS,
  };
  await postLoad({ ...floor, seconds: 2 });
  await postLoad({ ...accept, seconds: 2 });
  const floors: Load[] = [];
  const accepts: Load[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    options.log(`accept: round ${round} of ${ROUNDS}`);
    floors.push(await postLoad(floor));
    accepts.push(await postLoad(accept));
  }
  const refused = accepts.reduce((sum, load) => sum + load.refused, 0);
  const p99 = (loads: readonly Load[]) => median(loads.map(({ p99Ms }) => p99Ms));
  const rate = (loads: readonly Load[]) => median(loads.map(({ perSecond }) => perSecond));
  return [
    against({
      name: 'accept',
      value: rate(accepts),
      unit: 'payouts/s',
      floor: rate(floors),
      detail: `p99 ${p99(accepts)} ms against ${p99(floors)} ms, ${refused} refused; floor: Hono + insertOne majority`,
    }),
  ];
}

async function openFloor(options: BenchOptions): Promise<string> {
  const [held] = await holdPorts(1);
  if (!held) throw new Error('no free port');
  const { port } = held;
  await held.release();
  await options.supervisor.spawnChild({
    name: 'floor-server',
    command: process.execPath,
    args: [join('test', 'bench', 'floor-server.ts'), options.infrastructure.env.MONGODB_URL, String(port)],
    cwd: options.root,
    logFile: join(options.root, '.pesewa', 'logs', 'floor-server.log'),
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntil('the floor server', 20_000, () => exchange(`${url}/readyz`));
  return `${url}/`;
}

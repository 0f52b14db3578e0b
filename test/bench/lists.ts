import { waitUntil } from '@pesewa/infrastructure';
import { firstIdAt } from '@pesewa/kernel';
import { Long, MongoClient, type Document as Stored } from 'mongodb';
import type { Bench } from './bench.ts';
import { payOnce } from './console.ts';
import { watchMemory } from './processes.ts';
import { against, alone, quantile, type Row } from './rows.ts';
import { openSharedStack } from './shared-stack.ts';

const PAYOUTS = 100_000;
const ROUNDS = 100;
const PAGE_MS_MAX = 50;
const LINES_PER_SECOND_MIN = 20_000;
const INSERT = 5_000;
const MONTH_MS = 30 * 86_400_000;
/** Each so many of a hundred payouts; the others are completed. */
const rare = [
  [3, 'FAILED'],
  [50, 'REVERSED'],
] as const;

/** Pages of the lists of a merchant with many payouts, and a month's statement of its wallet, page by page. */
export const benchLists: Bench = async (options) => {
  const { infrastructure, log } = options;
  log(`lists and a statement of a merchant with ${PAYOUTS.toLocaleString('en')} payouts`);
  await using stack = await openSharedStack(options, {});
  const { reference, merchantId } = await payOnce(stack);
  await using client = await new MongoClient(infrastructure.env.MONGODB_URL).connect();
  await fill(client, { reference, merchantId });
  const { transferUrl, merchants, pids } = stack.runFile();
  const key = Buffer.from(merchants[0]?.publicKey ?? '').toString('base64');
  const read = async (path: string) => {
    const startedMs = performance.now();
    const answer = await fetch(`${transferUrl}${path}`, { headers: { 'x-api-key': key } });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    return { text, tookMs: performance.now() - startedMs };
  };
  using memory = watchMemory(pids['payout-gateway'] ?? 0);
  const rows = [...(await measureLists(read)), await measureStatement(read)];
  const detail = 'the most that the payout gateway had resident meanwhile';
  return [...rows, alone({ name: 'lists.memory', value: memory.peakMib(), unit: 'MiB', detail })];
};

type Read = (path: string) => Promise<{ readonly text: string; readonly tookMs: number }>;

async function measureLists(read: Read): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const status of ['', 'COMPLETED', 'FAILED', 'REVERSED', 'INITIALIZED']) {
    const tookMs: number[] = [];
    let cursor = '';
    for (let round = 0; round < ROUNDS; round += 1) {
      const page = await read(`/api/v1/transactions?status=${status}&cursor=${cursor}`);
      tookMs.push(page.tookMs);
      const { responseData } = JSON.parse(page.text) as { responseData: { nextCursor: string | null } };
      cursor = responseData.nextCursor ?? '';
    }
    rows.push(
      against({
        name: `lists.${status.toLowerCase() || 'all'}`,
        value: Math.round(quantile(tookMs, 0.95)),
        unit: 'ms',
        floor: PAGE_MS_MAX,
        ratioMax: 1,
        detail: `p95 of ${ROUNDS} pages, one after another; p50 ${Math.round(quantile(tookMs, 0.5))} ms`,
      }),
    );
  }
  return rows;
}

async function measureStatement(read: Read): Promise<Row> {
  const startedMs = performance.now();
  const to = new Date(Date.now() - 60_000).toISOString();
  let lines = 0;
  let cursor = '';
  do {
    const query = new URLSearchParams({ currency: 'GHS', to, limit: '500', cursor });
    const { responseData } = JSON.parse(
      (await read(`/api/v1/wallets/statement?${query.toString()}`)).text,
    ) as {
      responseData: { lines: readonly unknown[]; nextCursor: string | null };
    };
    lines += responseData.lines.length;
    cursor = responseData.nextCursor ?? '';
  } while (cursor !== '');
  const tookMs = performance.now() - startedMs;
  return against({
    name: 'lists.statement',
    value: Math.round((tookMs * LINES_PER_SECOND_MIN) / lines),
    unit: `ms per ${LINES_PER_SECOND_MIN.toLocaleString('en')} lines`,
    floor: 1_000,
    ratioMax: 1,
    detail: `${lines.toLocaleString('en')} lines, ${Math.round((1_000 * lines) / tookMs).toLocaleString('en')} a second`,
  });
}

/** Copies the record and the capture of a payout over the last month, and gives another merchant as many newer ones. */
async function fill(
  client: MongoClient,
  { reference, merchantId }: { readonly reference: string; readonly merchantId: string },
): Promise<void> {
  const payouts = client.db('payouts').collection<Stored>('payouts');
  const postings = client.db('ledger').collection<Stored>('postings');
  const kept = { promoteLongs: false };
  const [payout, capture] = await waitUntil('the booking of the payout', 60_000, async () => {
    const found = await payouts.findOne({ reference }, kept);
    const booked = await postings.findOne({ reference, kind: 'capture' }, kept);
    if (!found || !booked) throw new Error('it is not booked');
    return [found, booked] as const;
  });
  const now = Date.now();
  for (let first = 0; first < PAYOUTS; first += INSERT) {
    const records: Stored[] = [];
    const booked: Stored[] = [];
    for (let index = first; index < first + INSERT; index += 1) {
      const atMs = now - MONTH_MS + Math.floor((index / PAYOUTS) * (MONTH_MS - 120_000));
      const own = { ...payout, acceptedAt: new Date(atMs), status: statusOf(index) };
      const referenceAt = (ms: number) => `${firstIdAt('po', ms)}${index.toString(16).padStart(20, '0')}`;
      const ours = referenceAt(atMs);
      records.push(
        { ...own, _id: `${merchantId}:copy-${index}`, reference: ours },
        { ...own, _id: `rival:copy-${index}`, merchantId: 'rival', reference: referenceAt(now - 60_000) },
      );
      const walletSequence = Long.fromNumber(1_000 + 2 * index);
      booked.push({ ...capture, _id: `${ours}-copy`, reference: ours, walletSequence, at: new Date(atMs) });
    }
    await payouts.insertMany(records, { ordered: false, writeConcern: { w: 1 } });
    await postings.insertMany(booked, { ordered: false, writeConcern: { w: 1 } });
  }
}

function statusOf(index: number): string {
  const [, status] = rare.find(([each]) => index % 100 === each) ?? [];
  return status ?? 'COMPLETED';
}

import { topics } from '@pesewa/contracts';
import { openService } from '@pesewa/stack';
import { bareLedger } from './bare-ledger.ts';
import type { BenchOptions } from './bench.ts';
import { type LedgerTopics, openLedgerTopics } from './ledger-topics.ts';
import { against, median, type Row } from './rows.ts';

const ROUNDS = 3;
const POSTINGS = 100_000;
const WARM_UP = 30_000;
const FLOOR_POSTINGS = 50_000;

const shapes = [
  { name: 'ledger.spread', wallets: 1_000, partitions: topics.payouts.partitions, what: '1,000 wallets' },
  { name: 'ledger.hot', wallets: 1, partitions: 1, what: 'one hot wallet' },
] as const;

/** Ledger postings per second, from topic to published event, against a bare loop of the same transactions. */
export async function benchLedger(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const shape of shapes) {
    const wallets = Array.from(
      { length: shape.wallets },
      (_, index) => `${shape.name.replace('.', '-')}-${index}`,
    );
    const rates: number[] = [];
    const floors: number[] = [];
    await using feed = await openFeed(options, wallets);
    for (let round = 1; round <= ROUNDS; round += 1) {
      options.log(`${shape.name}: round ${round} of ${ROUNDS}`);
      floors.push(
        await bareLedger({ url: options.infrastructure.env.MONGODB_URL, postings: FLOOR_POSTINGS, ...shape }),
      );
      // The backlog lies in the topic before the ledger starts: what is measured is draining, not arrival.
      await feed.requestHolds(POSTINGS, wallets, `${shape.name}-${round}`);
      const measuring = feed.measure(POSTINGS, WARM_UP);
      await using _ledger = await openService({ ...options, name: 'ledger' });
      rates.push(await measuring);
    }
    const detail = `${shape.what}, ${POSTINGS.toLocaleString('en')} holds from topic to published event, every one awaited; floor: bare loop of the same transactions`;
    rows.push(
      against({ name: shape.name, value: median(rates), unit: 'postings/s', floor: median(floors), detail }),
    );
  }
  return rows;
}

async function openFeed(options: BenchOptions, wallets: readonly string[]): Promise<LedgerTopics> {
  await using _ledger = await openService({ ...options, name: 'ledger' });
  const feed = await openLedgerTopics(options.infrastructure);
  await feed.fund(wallets);
  await feed.measure(wallets.length);
  return feed;
}

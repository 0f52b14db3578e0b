import { topics } from '@pesewa/contracts';
import { bareLedger } from './bare-ledger.ts';
import type { BenchOptions } from './bench.ts';
import { type LedgerTopics, openLedgerTopics } from './ledger-topics.ts';
import { against, alone, median, type Row } from './rows.ts';
import { openService } from './single.ts';
import { benchVerify } from './verify.ts';

const ROUNDS = 3;
const PAYOUTS = 100_000;
const WARM_UP = 30_000;
const FLOOR_POSTINGS = 50_000;
const MS_PER_SECOND = 1_000;

/** The kinds of load: `postings` is how many the ledger makes for a payout, each with an event. */
const shapes = [
  {
    name: 'ledger.spread',
    wallets: 1_000,
    partitions: topics.payouts.partitions,
    payouts: PAYOUTS,
    postings: 1,
    what: 'holds of 1,000 wallets',
  },
  {
    name: 'ledger.hot',
    wallets: 1,
    partitions: 1,
    payouts: PAYOUTS,
    postings: 1,
    what: 'holds of one hot wallet',
  },
  {
    name: 'ledger.lifecycle',
    wallets: 1_000,
    partitions: topics.payouts.partitions,
    payouts: PAYOUTS / 2,
    postings: 2,
    what: 'holds and their captures, of three entries each',
  },
] as const;

type Shape = (typeof shapes)[number];

/** One backlog: how fast Kafka accepted it, how fast the ledger applied it, how long that took, and what is missing. */
interface Round {
  readonly acceptedPerSecond: number;
  readonly appliedPerSecond: number;
  readonly drainSeconds: number;
  readonly lost: number;
  readonly floor: number;
}

/** Ledger postings per second, from topic to published event, against a bare loop of the same transactions. */
export async function benchLedger(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const shape of shapes) {
    const wallets = Array.from(
      { length: shape.wallets },
      (_, index) => `${shape.name.replace('.', '-')}-${index}`,
    );
    const rounds: Round[] = [];
    await using feed = await openFeed(options, wallets);
    for (let round = 1; round <= ROUNDS; round += 1) {
      options.log(`${shape.name}: round ${round} of ${ROUNDS}`);
      rounds.push(await runRound(options, feed, shape, wallets, `${shape.name}-${round}`));
    }
    rows.push(...rowsOf(shape, rounds));
  }
  options.log('ledger.verify');
  return [...rows, hotAgainstSpread(rows), await benchVerify(options.infrastructure.env.MONGODB_URL)];
}

async function runRound(
  options: BenchOptions,
  feed: LedgerTopics,
  shape: Shape,
  wallets: readonly string[],
  run: string,
): Promise<Round> {
  const url = options.infrastructure.env.MONGODB_URL;
  const { partitions } = shape;
  const floor = await bareLedger({ url, postings: FLOOR_POSTINGS, wallets: shape.wallets, partitions });
  // The backlog is in the topic before the ledger starts, so that draining is measured, not arrival.
  const acceptedPerSecond = await feed.request(shape.payouts, wallets, run, shape.postings === 2);
  const measuring = feed.measure(shape.payouts * shape.postings, WARM_UP);
  await using _ledger = await openService({ ...options, name: 'ledger' });
  const startedMs = performance.now();
  const appliedPerSecond = await measuring;
  return {
    acceptedPerSecond,
    appliedPerSecond,
    drainSeconds: (performance.now() - startedMs) / MS_PER_SECOND,
    lost: shape.payouts * shape.postings - (await feed.countPostings(run)),
    floor,
  };
}

function rowsOf({ name, what, payouts, postings }: Shape, rounds: readonly Round[]): readonly Row[] {
  const middle = (key: keyof Round) => median(rounds.map((round) => round[key]));
  const lost = rounds.reduce((sum, round) => sum + round.lost, 0);
  return [
    against({
      name,
      value: middle('appliedPerSecond'),
      unit: 'postings/s',
      floor: middle('floor'),
      detail: `${what}, ${(payouts * postings).toLocaleString('en')} postings from topic to published event, ${lost} lost; floor: bare loop of the same transactions`,
    }),
    alone({
      name: `${name}.accepted`,
      value: middle('acceptedPerSecond'),
      unit: 'messages/s',
      detail: 'what Kafka acknowledged of the requests',
    }),
    alone({
      name: `${name}.drain`,
      value: middle('drainSeconds'),
      unit: 's',
      detail: 'from the ledger being ready until the last event was published',
    }),
  ];
}

function hotAgainstSpread(rows: readonly Row[]): Row {
  const valueOf = (name: string) => rows.find((row) => row.name === name)?.value ?? Number.NaN;
  return against({
    name: 'ledger.hot-to-spread',
    value: valueOf('ledger.hot'),
    unit: 'postings/s',
    floor: valueOf('ledger.spread'),
    detail: 'one hot wallet; floor: the same over 1,000 wallets',
  });
}

async function openFeed(options: BenchOptions, wallets: readonly string[]): Promise<LedgerTopics> {
  await using _ledger = await openService({ ...options, name: 'ledger' });
  const feed = await openLedgerTopics(options.infrastructure);
  await feed.fund(wallets);
  await feed.measure(wallets.length);
  return feed;
}

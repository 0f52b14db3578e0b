import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { waitUntil } from '@pesewa/infrastructure';
import { parse } from 'csv-parse';
import { type Collection, Long, MongoClient } from 'mongodb';
import { request } from 'undici';
import type { Bench, BenchOptions } from './bench.ts';
import { residentMib, watchMemory } from './processes.ts';
import { against, alone, type Row } from './rows.ts';
import { openService, type SingleService } from './single.ts';

const LINES = 1_000_000;
/** How many lines name a payment; below, how many payments have no line. */
const PAYMENTS = 200_000;
const UNLISTED = 1_000;
const INSERT = 10_000;
const LINES_PER_PIECE = 1_000;
const DEADLINE_MS = 900_000;
const MS_PER_SECOND = 1_000;
const DIGITS = 32;

const from = Date.UTC(2026, 10, 1);
const to = from + 86_400_000;

const mapping = {
  columns: { reference: 'reference', railReference: 'receipt', amount: 'amount', fee: 'fee', time: 'time' },
  time: { format: 'ISO' },
};

interface PollRecord {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/**
 * A statement of 1,000,000 lines from its upload until every line and every payment has its result, against reading
 * the same file with the parser alone; and the memory that the reconciler takes for it at most.
 */
export const benchStatements: Bench = async (options) => {
  options.log('statements: reading alone');
  const floor = await measureFloor();
  await using client = await new MongoClient(options.infrastructure.env.MONGODB_URL).connect();
  await using reconciler = await openService({ ...options, name: 'reconciler' });
  options.log(`statements: ${PAYMENTS.toLocaleString('en')} payments`);
  await fill(client.db('reconciler').collection<PollRecord>('polls'));
  return await measureMatching(options, reconciler, floor);
};

async function measureMatching(
  { log }: BenchOptions,
  reconciler: SingleService,
  floor: number,
): Promise<readonly Row[]> {
  const before = (await residentMib(reconciler.pid())) ?? Number.NaN;
  using memory = watchMemory(reconciler.pid());
  log(`statements: ${LINES.toLocaleString('en')} lines`);
  const startedMs = performance.now();
  const id = await upload(reconciler);
  const sentMs = performance.now() - startedMs;
  const found = await untilDone(reconciler, id);
  const doneMs = performance.now() - startedMs;
  const detail = Object.entries(found)
    .filter(([, count]) => count > 0)
    .map(([result, count]) => `${count.toLocaleString('en')} ${result}`)
    .join(', ');
  return [
    against({
      name: 'statements.matched',
      value: Math.round((LINES / doneMs) * MS_PER_SECOND),
      unit: 'lines/s',
      floor,
      detail: `until every line has a result: ${detail}; floor: csv-parse alone, the same file`,
    }),
    against({
      name: 'statements.taken',
      value: Math.round((LINES / sentMs) * MS_PER_SECOND),
      unit: 'lines/s',
      floor,
      detail: 'until the file is stored, each line matched by its reference',
    }),
    alone({
      name: 'statements.memory',
      value: memory.peakMib(),
      unit: 'MiB',
      detail: `the most that the reconciler had resident; ${Math.round(before)} MiB before`,
    }),
  ];
}

/** How many lines a second the parser reads, and no more is done with them. */
async function measureFloor(): Promise<number> {
  const startedMs = performance.now();
  let lines = 0;
  const parser = parse({
    bom: true,
    relax_column_count: true,
    on_record: () => {
      lines += 1;
      return null;
    },
  });
  Readable.from(statement()).pipe(parser).resume();
  await new Promise((resolve, reject) => parser.once('close', resolve).once('error', reject));
  return Math.round((lines / (performance.now() - startedMs)) * MS_PER_SECOND);
}

function referenceOf(index: number): string {
  return `po-${index.toString(16).padStart(DIGITS, '0')}`;
}

/** The file by the piece: every fifth line is that of a payment, the others fit nothing. */
function* statement(): Generator<Buffer> {
  yield Buffer.from('reference,receipt,amount,fee,time\r\n');
  const every = LINES / PAYMENTS;
  for (let start = 0; start < LINES; start += LINES_PER_PIECE) {
    let text = '';
    for (let line = start; line < start + LINES_PER_PIECE; line += 1) {
      const index = line / every;
      const isListed = Number.isInteger(index) && index >= UNLISTED;
      const time = new Date(from + Math.floor((line / LINES) * (to - from))).toISOString();
      text += isListed
        ? `${referenceOf(index)},R${line},-100.00,0.50,${time}\r\n`
        : `${referenceOf(line + LINES)},R${line},-7.00,0.04,${time}\r\n`;
    }
    yield Buffer.from(text);
  }
}

async function upload({ operationsUrl, operatorToken }: SingleService): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of statement()) hash.update(piece);
  const query = new URLSearchParams({
    rail: 'upstream',
    currency: 'KES',
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    mapping: JSON.stringify(mapping),
    sha256: hash.digest('hex'),
  });
  const answer = await request(`${operationsUrl}/statements?${query.toString()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorToken}` },
    body: Readable.from(statement()),
    headersTimeout: DEADLINE_MS,
    bodyTimeout: DEADLINE_MS,
  });
  const body = (await answer.body.json()) as { readonly id?: string; readonly message?: string };
  if (body.id === undefined) throw new Error(`the statement was refused: ${body.message}`);
  return body.id;
}

async function untilDone(
  { operationsUrl, operatorToken }: SingleService,
  id: string,
): Promise<Readonly<Record<string, number>>> {
  let counts: Readonly<Record<string, number>> = {};
  await waitUntil('the statement', DEADLINE_MS, async () => {
    const answer = await fetch(`${operationsUrl}/statements/${id}`, {
      headers: { authorization: `Bearer ${operatorToken}` },
    });
    const body = (await answer.json()) as { status: string; counts: Record<string, number> | null };
    if (body.status !== 'done') throw new Error(`it is ${body.status}`);
    counts = body.counts ?? {};
  });
  return counts;
}

/** Puts completed payouts into the working set, as their events would have. */
async function fill(polls: Collection<PollRecord>): Promise<void> {
  const [zero, amount, railFee] = [0, 10_000, 50].map((minor) => Long.fromNumber(minor));
  const terms = { kind: 'payout', rail: 'upstream', merchantId: 'demo', currency: 'KES', country: 'KEN' };
  for (let start = 0; start < PAYMENTS; start += INSERT) {
    await polls.insertMany(
      Array.from({ length: INSERT }, (_, offset) => {
        const index = start + offset;
        const endedAt = new Date(from + Math.floor((index / PAYMENTS) * (to - from)));
        return {
          _id: referenceOf(index),
          terms: { ...terms, amount, railFee },
          status: 'completed',
          version: Long.fromNumber(5),
          openedAt: endedAt,
          endedAt,
          polls: 0,
          hintedPolls: 0,
          pollsInRound: 0,
          callbacks: [],
          claimsJudged: 0,
          decided: [],
          breaks: [],
          posted: true,
          refunded: false,
          mayDebit: zero,
          mayCredit: zero,
        };
      }),
      { ordered: false },
    );
  }
}

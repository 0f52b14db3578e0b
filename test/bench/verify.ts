import { auditLedger } from '@pesewa/audit';
import { systemClock } from '@pesewa/kernel';
import { MongoClient } from 'mongodb';
import { against, median, type Row } from './rows.ts';

const ROUNDS = 3;
const MS_PER_SECOND = 1_000;

/** Postings verified per second from the first page on, against a cursor that only reads the same pages and postings. */
export async function benchVerify(mongodbUrl: string): Promise<Row> {
  await using client = await new MongoClient(mongodbUrl, { useBigInt64: true }).connect();
  const db = client.db('ledger');
  const postings = await db.collection('postings').countDocuments();
  const [verified, scanned]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    for (const name of ['pages', 'postings']) for await (const _document of db.collection(name).find());
    scanned.push((postings * MS_PER_SECOND) / (performance.now() - startedMs));
    // The payments were never stored: only events about them were published.
    const report = await auditLedger({ mongodbUrl, crossCheck: false, clock: systemClock });
    const [first] = report.violations;
    if (first) throw new Error(`${first.invariant} ${first.subject}: ${first.message}`);
    verified.push((postings * MS_PER_SECOND) / report.durationMs);
  }
  return against({
    name: 'ledger.verify',
    value: median(verified),
    unit: 'postings/s',
    floor: median(scanned),
    detail: `${postings.toLocaleString('en')} postings, every hash and every balance; floor: a cursor over the same documents`,
  });
}

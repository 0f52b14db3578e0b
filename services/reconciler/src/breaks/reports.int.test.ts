import type { ClientSession } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Break, FoundBreak } from '../domain/break.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import { createHarness } from '../fixtures/harness.ts';
import { applyReports, type BreakReport } from './reports.ts';
import { openBreakStore } from './store.ts';

const harness = createHarness('opn', process.env);

beforeAll(harness.open);
afterAll(harness.close);

describe('two transactions side by side', () => {
  const at = new Date(0);
  const found = (kind: 'close.differs' | 'statement.differs', reference: string): FoundBreak =>
    toFoundBreak(
      reference,
      { kind, field: 'fee', amount: -1n, detail: 'the fee' },
      { rail: 'upstream', currency: 'KES' },
      at,
    );

  it.each([
    ['that open one discrepancy', false],
    ['of which one closes what the other finds', true],
  ])('%s: the second is refused, and run again', async (_what, closes) => {
    const store = openBreakStore(harness.database());
    const { client } = harness.database();
    const reference = `po-${closes ? 'closing' : 'opening'}`;
    const apply = (reports: BreakReport, session: ClientSession) =>
      applyReports(store, [reports], new Map(), { session, emit: () => undefined });
    const [mine, other] = [found('close.differs', reference), found('statement.differs', reference)];
    if (closes) await client.withSession((session) => session.withTransaction(() => apply(mine, session)));
    await client.withSession((one) =>
      client.withSession(async (two) => {
        one.startTransaction();
        two.startTransaction();
        // Both have read before either writes.
        await Promise.all([one, two].map((session) => store.findAll([`${reference}/fee`], session)));
        const gone = toWithdrawal(reference, { kind: 'close.differs', field: 'fee', resolution: 'gone' }, at);
        await apply(closes ? gone : mine, one);
        const rival = apply(other, two).then(() => two.commitTransaction());
        const [refused] = await Promise.allSettled([rival, one.commitTransaction()]);
        expect(String(refused.status === 'rejected' && refused.reason)).toMatch(/conflict|duplicate key/i);
        await two.abortTransaction();
      }),
    );
    await client.withSession((session) => session.withTransaction(() => apply(other, session)));
    const breaks = await harness.database().collection<Break>('breaks').find({ reference }).toArray();
    expect(breaks).toMatchObject([{ _id: `${reference}/fee`, status: 'open' }]);
    const observers = breaks[0]?.observations.map(({ observer }) => observer);
    expect(observers).toEqual(closes ? ['statement'] : ['close', 'statement']);
  });
});

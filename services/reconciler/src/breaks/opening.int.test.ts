import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Break, FoundBreak } from '../domain/break.ts';
import { createHarness } from '../fixtures/harness.ts';
import { openBreakStore } from './store.ts';

const harness = createHarness('opn', process.env);

beforeAll(harness.open);
afterAll(harness.close);

describe('two transactions side by side', () => {
  const found = (kind: string, reference: string): FoundBreak => ({
    _id: `${reference}/${kind}`,
    kind,
    reference,
    rail: 'upstream',
    currency: 'KES',
    amount: -1n,
    detail: 'the fee',
    reports: [{ field: 'fee', amount: -1n }],
    openedAt: new Date(0),
  });

  it.each([
    ['that open one discrepancy', false],
    ['of which one closes the break that covers the other', true],
  ])('%s: the second is refused, and run again', async (_what, closes) => {
    const store = openBreakStore(harness.database());
    const { client } = harness.database();
    const reference = `po-${closes ? 'closing' : 'opening'}`;
    const [mine, other] = [found('close.differs', reference), found('statement.differs', reference)];
    if (closes)
      await client.withSession((session) => session.withTransaction(() => store.open([mine], session)));
    await client.withSession((one) =>
      client.withSession(async (two) => {
        one.startTransaction();
        two.startTransaction();
        // Both have read before either writes.
        await Promise.all([one, two].map((session) => store.findAbout([reference], session)));
        if (closes) await store.update([{ id: mine._id, resolution: 'gone' }], new Date(0), one);
        else await store.open([mine], one);
        const rival = store.open([other], two).then(() => two.commitTransaction());
        const [refused] = await Promise.allSettled([rival, one.commitTransaction()]);
        expect(String(refused.status === 'rejected' && refused.reason)).toMatch(/conflict|duplicate key/i);
        await two.abortTransaction();
      }),
    );
    const again = await client.withSession((session) =>
      session.withTransaction(() => store.openAndReport([other], session)),
    );
    expect([...again.coveringBreaks.values()]).toEqual([[closes ? other._id : mine._id]]);
    const open = harness.database().collection<Break>('breaks').countDocuments({ reference, status: 'open' });
    expect(await open).toBe(1);
  });
});

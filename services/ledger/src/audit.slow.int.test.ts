import { pageId } from '@pesewa/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AuditedLedger, memoryCheckpoints, openAuditedLedger } from './audited.fixture.ts';
import { capture, collect, fund, fundFloat, hold, ofNoBreak, release } from './domain/posting.fixture.ts';
import { forgeries } from './forged.fixture.ts';
import { changes } from './injected-faults.fixture.ts';
import { rewritings } from './rewritten.fixture.ts';

const faults = [...changes, ...forgeries, ...rewritings].map(
  ([what, invariant, subject, inject, first = `${invariant} ${subject}`]) =>
    [what, invariant, subject, inject, first] as const,
);

let books: AuditedLedger;

const payout = { reference: 'po-1', merchantId: 'demo', currency: 'KES', amount: 1_000n, fee: 10n };
const collected = { reference: 'co-1', merchantId: 'demo', currency: 'KES', amount: 500n, fee: 20n };

beforeAll(async () => {
  books = await openAuditedLedger(process.env['MONGODB_URL'] ?? '');
  const { amount, fee } = hold;
  const refund = { ...release, kind: 'refund', reference: 'po-3', amount, fee } as const;
  const order = { ...fund, amount: 90n };
  await books.apply(
    { ...fund, amount: 5_000n },
    { ...fund, reference: 'cm-2', currency: 'XOF', amount: 700n },
    { ...fundFloat, reference: 'cm-3', amount: 9_000n },
    hold,
    { ...hold, reference: 'po-2' },
    capture,
    { ...release, reference: 'po-2' },
    collect,
    { ...hold, reference: 'po-3' },
    { ...capture, reference: 'po-3' },
    refund,
    { ...hold, reference: 'po-4' },
    { ...hold, reference: 'po-5', amount: 9_000n },
    { ...order, kind: 'withdraw', reference: 'cm-4' },
    { ...order, kind: 'adjust', direction: 'debit', reference: 'cm-5', ...ofNoBreak },
    { ...order, kind: 'suspense', direction: 'surplus', rail: 'upstream', reference: 'cm-6', ...ofNoBreak },
  );
  const ended = { ...payout, step: 'ended' };
  await books.payouts.collection('payouts').insertMany([
    { ...ended, status: 'COMPLETED' },
    { ...ended, reference: 'po-2', status: 'FAILED' },
    { ...ended, reference: 'po-3', status: 'REVERSED' },
    { ...payout, reference: 'po-4', status: 'INITIALIZED', step: 'submitted' },
    { ...ended, reference: 'po-5', status: 'FAILED', amount: 9_000n },
    { ...payout, reference: 'po-6', status: 'INITIALIZED', step: 'awaitingHold' },
  ]);
  await books.collections.collection('collections').insertMany([
    { ...collected, status: 'COMPLETED', step: 'ended' },
    { ...collected, reference: 'co-2', status: 'PENDING', step: 'awaitingOtp' },
    { ...collected, reference: 'co-3', status: 'FAILED', step: 'ended' },
  ]);
  await books.save();
});

afterEach(() => books.restore());

afterAll(async () => {
  await books[Symbol.asyncDispose]();
});

describe('the audit of a real database', () => {
  it('finds nothing in good books', async () => {
    const { violations, heads, durationMs: _durationMs, ...counts } = await books.audit();
    expect(violations).toEqual([]);
    expect(heads.map(({ chain, number }) => [chain, number])).toEqual([
      ['collections/0', 1],
      ['ledgerCommands/0', 2],
      ['payouts/0', 4],
    ]);
    expect(counts).toEqual({
      pages: 7,
      entries: 22,
      entriesBefore: 0,
      wallets: 2,
      accounts: 6,
      openHolds: 1,
      payments: 9,
      violationCounts: {},
    });
  });

  it.each(faults)('names %s: %s of %s', async (_what, invariant, subject, inject, first) => {
    await inject(books);
    const { violations } = await books.audit();
    const named = violations.map((violation) => `${violation.invariant} ${violation.subject}`);
    expect(named[0]).toBe(first);
    expect(named).toContain(`${invariant} ${subject}`);
  });

  it('has a fault for every rule of the ledger', () => {
    const injected = new Set(faults.map(([, invariant]) => invariant));
    expect(injected.size).toBe(12);
  });

  it('finds chains that were cut or written anew behind an earlier report', async () => {
    const { heads: since } = await books.audit();
    await books.apply({ ...fund, reference: 'cm-10' });
    const { heads: later, violations } = await books.audit({ earlierHeads: since });
    expect(violations).toEqual([]);
    await books.restore();
    expect((await books.audit()).violations).toEqual([]);
    const truncated = await books.audit({ earlierHeads: later });
    expect(truncated.violations).toMatchObject([
      {
        invariant: 'L6',
        subject: pageId('ledgerCommands/0', 3n),
        message: expect.stringContaining('is missing') as string,
      },
    ]);
    await books.apply({ ...fund, reference: 'cm-11' });
    expect((await books.audit()).violations).toEqual([]);
    const rewritten = await books.audit({ earlierHeads: later });
    expect(rewritten.violations).toMatchObject([
      {
        invariant: 'L6',
        subject: pageId('ledgerCommands/0', 3n),
        message: expect.stringContaining('another hash') as string,
      },
    ]);
  });

  it('holds the orders against the entries without the gateways too', async () => {
    await books.ledger.collection('commands').deleteMany({});
    const { violations } = await books.audit({ crossCheck: false });
    expect(violations.map(({ invariant }) => invariant)).toEqual(Array(6).fill('L12'));
  });

  it.each([
    ['from its first page on', undefined],
    ['from the audit before on', memoryCheckpoints()],
  ])('finds nothing in a ledger that goes on writing, %s', async (_from, checkpoints) => {
    const payouts = books.payouts.collection('payouts');
    let isAuditing = true;
    const writing = (async () => {
      for (let index = 0; isAuditing; index += 1) {
        const reference = `po-live-${index}`;
        const live = { ...payout, reference, amount: 1n, fee: 0n };
        await payouts.insertOne({ ...live, status: 'INITIALIZED', step: 'awaitingHold' });
        await books.apply({ ...hold, ...live }, { ...fund, reference: `cm-live-${index}`, amount: 5n });
        await payouts.updateOne({ reference }, { $set: { status: 'COMPLETED', step: 'ended' } });
        await books.apply({ ...capture, ...live });
      }
    })();
    try {
      const read: number[] = [];
      while (new Set(read).size < 4) {
        const report = await books.audit(checkpoints && { checkpoints });
        expect(report.violations).toEqual([]);
        read.push(report.entries);
      }
    } finally {
      isAuditing = false;
      await writing;
    }
  });
});

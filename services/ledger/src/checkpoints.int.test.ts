import { CheckpointError } from '@pesewa/audit';
import { pageId } from '@pesewa/contracts';
import { firstIdAt } from '@pesewa/kernel';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AuditedLedger, memoryCheckpoints, openAuditedLedger } from './audited.fixture.ts';
import { capture, fund, hold, refund } from './domain/posting.fixture.ts';

let books: AuditedLedger;

/** Payouts from long ago: one at rest, one under way. */
const [rested, underWay] = [firstIdAt('po', 1_000), firstIdAt('po', 2_000)];
const payout = { merchantId: 'demo', currency: 'KES', amount: 1_000n, fee: 10n };

beforeAll(async () => {
  books = await openAuditedLedger(process.env['MONGODB_URL'] ?? '');
  await books.apply(
    { ...fund, amount: 9_000n },
    { ...hold, reference: rested },
    { ...capture, reference: rested },
    { ...hold, reference: underWay },
  );
  await books.payouts.collection('payouts').insertMany([
    { ...payout, reference: rested, status: 'COMPLETED', step: 'ended' },
    { ...payout, reference: underWay, status: 'INITIALIZED', step: 'submitted' },
  ]);
  await books.save();
});

afterEach(() => books.restore());

afterAll(async () => {
  await books[Symbol.asyncDispose]();
});

/** The rules that are broken, and where. */
const named = ({ violations }: Awaited<ReturnType<AuditedLedger['audit']>>) =>
  violations.map(({ invariant, subject }) => `${invariant} ${subject}`);

async function verified() {
  const checkpoints = memoryCheckpoints();
  expect(named(await books.audit({ checkpoints }))).toEqual([]);
  return checkpoints;
}

const setPosting = (_id: string, fields: object) =>
  books.ledger.collection<{ _id: string }>('postings').updateOne({ _id }, { $set: fields });

it('reads only what is behind the last audit, and comes to the same', async () => {
  const checkpoints = await verified();
  await books.apply({ ...fund, reference: 'cm-2' }, { ...capture, reference: underWay });
  await books.payouts
    .collection('payouts')
    .updateOne({ reference: underWay }, { $set: { status: 'COMPLETED', step: 'ended' } });
  const { entriesBefore, durationMs: _one, payments: _some, ...later } = await books.audit({ checkpoints });
  expect(entriesBefore).toBe(6);
  const { entriesBefore: none, durationMs: _other, payments: _all, ...whole } = await books.audit();
  expect([none, later]).toEqual([0, whole]);
  expect(later.violations).toEqual([]);
});

it.each([
  [
    'a changed posting',
    () => setPosting('cm-2/fund', { reference: 'cm-3' }),
    `L6 ${pageId('ledgerCommands/0', 2n)}`,
  ],
  [
    'a changed wallet',
    () => books.ledger.collection('wallets').updateOne({}, { $set: { available: 1n } }),
    'L3 demo:KES',
  ],
  [
    'a wallet as it was at the last audit',
    () =>
      books.ledger
        .collection('wallets')
        .updateOne({}, [{ $set: { available: { $subtract: ['$available', fund.amount] } } }]),
    'L3 demo:KES',
  ],
  [
    'a changed shared account',
    () =>
      books.ledger.collection('accounts').updateOne({ account: 'treasury:KES' }, { $inc: { debits: 1n } }),
    'L3 treasury:KES#ledgerCommands/0',
  ],
  [
    'a page that was taken away',
    () => books.ledger.collection<{ _id: string }>('pages').deleteOne({ _id: pageId('payouts/0', 1n) }),
    `L6 ${pageId('payouts/0', 1n)}`,
  ],
  [
    'the last verified page written anew',
    () =>
      books.ledger
        .collection<{ _id: string }>('pages')
        .updateOne({ _id: pageId('payouts/0', 1n) }, { $set: { hash: Buffer.alloc(32, 1) } }),
    `L6 ${pageId('payouts/0', 1n)}`,
  ],
  [
    'a payout under way that says otherwise',
    () =>
      books.payouts.collection('payouts').updateOne({ reference: underWay }, { $set: { status: 'FAILED' } }),
    `L5 ${underWay}`,
  ],
])('finds %s without reading everything', async (_what, change, where) => {
  const checkpoints = await verified();
  await books.apply({ ...fund, reference: 'cm-2' });
  const before = checkpoints.kept;
  await change();
  const report = await books.audit({ checkpoints });
  expect(named(report)).toContain(where);
  expect(report.entriesBefore).toBe(6);
  expect(checkpoints.kept).toBe(before);
  expect(named(await books.audit({ checkpoints }))).toContain(where);
});

it('finds a changed posting of before only where it begins with the first page', async () => {
  const checkpoints = await verified();
  await setPosting(`${rested}/hold`, { causationId: 'ev-other' });
  expect(named(await books.audit({ checkpoints }))).toEqual([]);
  expect(named(await books.audit({ checkpoints, whole: true }))).toEqual([`L6 ${pageId('payouts/0', 1n)}`]);
});

it('compares an old payout with its entries again as soon as a posting names it', async () => {
  const checkpoints = await verified();
  await books.payouts.collection('payouts').updateOne({ reference: rested }, { $set: { amount: 999n } });
  expect(named(await books.audit({ checkpoints }))).toEqual([]);
  await books.apply({ ...refund, reference: rested });
  expect(named(await books.audit({ checkpoints }))).toContain(`L5 ${rested}`);
});

it('goes on where it broke off, and shows no less', async () => {
  const checkpoints = memoryCheckpoints();
  await books.ledger
    .collection<{ _id: string }>('postings')
    .insertOne({ _id: 'cm-7/fund', kind: 'fund', entries: [] } as { _id: string }, {
      bypassDocumentValidation: true,
    });
  const breakOff = books.audit({
    checkpoints,
    checkpointEveryMs: 0,
    onProgress: ({ stage }) => {
      if (stage === 'pages') throw new Error('broken off');
    },
  });
  await expect(breakOff).rejects.toThrow('broken off');
  await books.payouts.collection('payouts').updateOne({ reference: rested }, { $set: { amount: 999n } });
  const report = await books.audit({ checkpoints });
  expect(report.entriesBefore).toBe(report.entries);
  expect(named(report)).toEqual(expect.arrayContaining(['L6 cm-7/fund', `L10 ${rested}`]));
});

it('keeps nothing where the records of payments are left out', async () => {
  const checkpoints = memoryCheckpoints();
  await books.audit({ checkpoints, crossCheck: false, checkpointEveryMs: 0 });
  expect(checkpoints.kept).toBeUndefined();
});

it('does not go on from what is no checkpoint', async () => {
  const checkpoints = await verified();
  checkpoints.kept = checkpoints.kept?.subarray(0, 40);
  await expect(books.audit({ checkpoints })).rejects.toThrow(CheckpointError);
});

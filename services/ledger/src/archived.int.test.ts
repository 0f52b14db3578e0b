import { archiveNoteOf, ERASURES } from '@pesewa/contracts';
import { createIds, DAY_MS, systemClock, systemRandom } from '@pesewa/kernel';
import { startEraser } from '@pesewa/messaging';
import { archiveOf } from '@pesewa/payments';
import { createLogger } from '@pesewa/runtime';
import { eventually } from '@pesewa/testkit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AuditedLedger, openAuditedLedger } from './audited.fixture.ts';
import { capture, collect, fund, fundFloat, hold } from './domain/posting.fixture.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const then = { ...systemClock, nowMs: () => systemClock.nowMs() - 2_000 * DAY_MS };
const [old, young] = [createIds(then, systemRandom), createIds(systemClock, systemRandom)];
const [oldPayout, oldRefused, youngPayout] = [old.next('po'), old.next('po'), young.next('po')];
const oldCollection = old.next('co');
const gateways = { payouts: 'po', collections: 'co' } as const;
let books: AuditedLedger;

type PaymentRecord = Readonly<{ _id: string; reference: string; status: string }>;

beforeAll(async () => {
  books = await openAuditedLedger(process.env['MONGODB_URL'] ?? '');
  await books.apply(
    { ...fund, amount: 5_000n },
    { ...fundFloat, reference: 'cm-3', amount: 9_000n },
    ...[oldPayout, youngPayout].flatMap((reference) => [
      { ...hold, reference },
      { ...capture, reference },
    ]),
    { ...hold, reference: oldRefused, amount: 90_000n },
    { ...collect, reference: oldCollection },
  );
  const payment = { merchantId: 'demo', currency: 'KES', fee: 10n, step: 'ended' };
  const payout = { ...payment, amount: 1_000n, status: 'COMPLETED' };
  await books.payouts.collection<PaymentRecord>('payouts').insertMany([
    { ...payout, _id: 'demo:1', reference: oldPayout },
    { ...payout, _id: 'demo:2', reference: oldRefused, amount: 90_000n, status: 'FAILED' },
    { ...payout, _id: 'demo:3', reference: youngPayout },
  ]);
  const collected = { ...payment, amount: 500n, fee: 20n, status: 'COMPLETED' };
  await books.collections
    .collection<PaymentRecord>('collections')
    .insertOne({ ...collected, _id: 'demo:1', reference: oldCollection });
  await books.save();
});
afterEach(async () => {
  await books.restore();
  for (const name of ['payouts', 'collections'] as const)
    for (const own of [ERASURES, 'leases']) await books[name].collection(own).deleteMany({});
});
afterAll(() => books[Symbol.asyncDispose]());

/** Archives what is older than 1,000 days, as its gateway does. */
async function archive(name: keyof typeof gateways) {
  const erasure = archiveOf<PaymentRecord>({
    name,
    collection: name,
    by: 'reference',
    prefix: gateways[name],
    open: () => ({ status: 'INITIALIZED' }),
    notErased: { status: 'INITIALIZED' },
    erase: [],
  });
  await using _loop = startEraser(
    { db: books[name], owner: 'one', clock: systemClock, logger },
    erasure,
    1_000,
  );
  const left = books[name].collection(name);
  await eventually(async () =>
    expect(await left.countDocuments({ reference: { $in: [oldPayout, oldRefused, oldCollection] } })).toBe(0),
  );
}

const named = async () =>
  (await books.audit()).violations.map(({ invariant, subject }) => `${invariant} ${subject}`);

it('finds nothing where old payments are archived, and says how many', async () => {
  await archive('payouts');
  await archive('collections');
  expect(await books.audit()).toMatchObject({ violations: [], payments: 1, archived: 2 });
});

it('finds each payment lost that is older than nothing that was noted', async () => {
  await archive('payouts');
  await books.payouts.collection<{ _id: string }>(ERASURES).deleteOne({ _id: archiveNoteOf('payouts') });
  expect(await named()).toEqual([`L5 ${oldPayout}/hold`]);
});

it('finds a payment lost that is too young to be archived', async () => {
  await archive('payouts');
  await books.payouts.collection('payouts').deleteOne({ reference: youngPayout });
  expect(await named()).toEqual([`L5 ${youngPayout}/hold`]);
});

it('finds that payments are lost of which not even the reference is left', async () => {
  await archive('payouts');
  await archive('collections');
  await books.payouts.collection('payouts').deleteMany({ end: { $exists: true } });
  await books.collections.collection('collections').deleteMany({ end: { $exists: true } });
  expect(await named()).toEqual(['L5 payouts', 'L11 collections']);
});

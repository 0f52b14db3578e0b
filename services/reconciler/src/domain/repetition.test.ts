import { expect, it } from 'vitest';
import { called, ended, opened, timing } from '../fixtures/verdicts.ts';
import { apply, type PaymentObservation } from './observations.ts';
import { awaited, type Tracked } from './tracked.ts';

const posted = (posting: 'capture' | 'refund' | 'release', minor: bigint | null): PaymentObservation => ({
  kind: 'posted',
  name: posting,
  posting,
  moved: minor === null ? null : { rail: 'upstream', currency: 'KES', minor },
  atMs: 9_000,
});

const claims = [
  called({ atMs: 5_000 }),
  called({ atMs: 6_000 }),
  called({ atMs: 6_500, amount: '90' }),
  called({ atMs: 6_600, fee: '1' }),
  called({ atMs: 6_700, status: 'FAILED', amount: null, reason: 'Declined' }),
  called({ atMs: 6_800, status: 'PENDING' }),
  called({ atMs: 6_900, proven: true }),
  called({ atMs: 7_000, rail: 'other' }),
  called({ atMs: 7_100, kind: 'payout', status: 'FAILED' }),
];
const many = Array.from({ length: 12 }, (_, index) =>
  called({ atMs: 7_200 + index, amount: String(200 + index) }),
);
const bookings = [posted('capture', 10_000n), posted('refund', -10_000n), posted('release', null)];

const applyAll = (from: Tracked, observations: readonly PaymentObservation[]) =>
  observations.reduce((before, observation) => apply(before, observation, timing), from);

it.each<[string, readonly PaymentObservation[]]>([
  ['callbacks after the payment', [opened('collection'), ...claims]],
  ['callbacks before the payment', [...claims, opened('collection')]],
  ['callbacks of nothing that we know', claims],
  ['callbacks of many amounts', [opened('collection'), ...many, ...claims]],
  ['postings after the payment', [opened('collection'), ended('collection', 'completed'), ...bookings]],
  ['postings before the payment', [...bookings, opened('collection')]],
  [
    'all of it',
    [...claims, ...bookings, opened('collection'), ...many, ended('collection', 'completed'), ...claims],
  ],
])('changes nothing when it is repeated: %s', (_name, observations) => {
  const once = applyAll(awaited('co-1', 0), observations);
  expect(applyAll(once, observations)).toBe(once);
  // Each of them twice in a row, as if its offset had been lost.
  const doubled = observations.flatMap((observation) => [observation, observation]);
  expect(applyAll(awaited('co-1', 0), doubled)).toEqual(once);
});

it('takes a callback for news that was passed on later, and one of another amount whenever it comes', () => {
  const known = applyAll(awaited('co-1', 0), [opened('collection'), called({ atMs: 6_000 })]);
  expect(applyAll(known, [called({ atMs: 6_001 })])).not.toBe(known);
  expect(applyAll(known, [called({ atMs: 5_000, amount: '90' })])).not.toBe(known);
});

it('sums what the ledger booked once', () => {
  const again = applyAll(awaited('co-1', 0), [...bookings, ...bookings]);
  expect(again).toMatchObject({ posted: true, refunded: true, released: true, booked: { minor: 0n } });
});

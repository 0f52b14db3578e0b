import { expect, it } from 'vitest';
import { movementsOf, toPayment, toUpdates, withoutPending } from './settling.ts';

const terms = {
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  country: 'KEN',
  amount: 10_000n,
  railFee: 50n,
} as const;

it('a payment is compared in the fee that was booked, and otherwise in what the schedule says', () => {
  const payment = { _id: 'po-1', terms, status: 'completed' } as const;
  expect(toPayment(payment, () => undefined)).toMatchObject({ amount: 10_000n, fee: 50n });
  expect(toPayment({ ...payment, charged: 60n }, () => undefined)).toMatchObject({ fee: 60n });
  expect(toPayment({ ...payment, received: 9_000n }, () => 45n)).toMatchObject({ amount: 9_000n, fee: 45n });
});

it('lines stand for what they are compared with now; one that says reversed for both, a pending reversal for none', () => {
  const line = (uses: string | undefined, status: 'completed' | 'reversed' | 'pending', run: string) =>
    ({ _id: run, uses, row: { status } }) as Parameters<typeof movementsOf>[0][number];
  const lines = [
    line('po-1', 'completed', '1'),
    line('po-2', 'reversed', '2'),
    line('po-3/reversal', 'pending', '3'),
    line('po-4', 'pending', '4'),
    line(undefined, 'completed', '5'),
    line(undefined, 'completed', '6'),
  ];
  const found = movementsOf(lines, new Map([['5', { uses: 'po-5/reversal' }]]));
  expect([...found]).toEqual(['po-1', 'po-2', 'po-2/reversal', 'po-4', 'po-5/reversal']);
});

it('a line that was pending when its payment had not ended waits for the statement that must have it', () => {
  const line = (payment: string, status: 'completed' | 'pending', untilMs = 10, run = 'st-1') =>
    ({
      run,
      payment,
      row: { status },
      statement: { window: { to: new Date(untilMs) } },
    }) as unknown as Parameters<typeof withoutPending>[0][number];
  const lines = [
    line('po-waits', 'pending'),
    line('po-placed', 'pending'),
    line('po-within', 'pending', 21),
    line('po-listed', 'pending'),
    line('po-listed', 'completed'),
    line('po-listed', 'pending', 10, 'st-2'),
  ];
  const placed = ['po-waits', 'po-placed', 'po-within', 'po-listed'].map((_id) => ({
    payment: { _id, endedAt: new Date(20) },
    places: _id === 'po-placed' ? [{}] : [],
  }));
  expect(withoutPending(lines, placed)).toEqual(lines.slice(1, 5));
});

it('a line that has another outcome keeps of its breaks those of other subjects, which another mapping has read', () => {
  const line = { _id: 'st-1/1', run: 'st-1', row: { reference: 'po-1' }, result: 'not_in_books' };
  const breaks = ['po-1/existence', 'line-1/existence'];
  const outcomes = new Map([['st-1/1', { result: 'matched', payment: 'po-1' }]]) as Parameters<
    typeof toUpdates
  >[1];
  const given = [{ ...line, breaks }] as unknown as Parameters<typeof toUpdates>[0];
  expect(toUpdates(given, outcomes)).toMatchObject([
    { replaceOne: { replacement: { result: 'matched', breaks: ['line-1/existence'] } } },
  ]);
});

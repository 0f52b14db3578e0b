import { expect, it } from 'vitest';
import { awaited, type Tracked } from '../domain/tracked.ts';
import { ended, fold, opened } from '../fixtures/verdicts.ts';
import { watchEntries } from './watches.ts';

const failed = (reference: string): Tracked =>
  fold(awaited(reference, 0), [opened('payout'), ended('payout', 'failed')]);

it('is overdue until the ledger bears the payment out', async () => {
  const payments = new Map(
    [
      failed('po-lacks'),
      { ...failed('po-whole'), released: true },
      { ...awaited('po-unknown', 0), posted: true },
    ].map((one) => [one.reference, one]),
  );
  const store = { load: async () => payments, collection: undefined as never };
  const { judge } = watchEntries('payout', store, 1_000);
  const found = await judge(['po-lacks', 'po-whole', 'po-gone', 'po-unknown']);
  expect(found.map(({ reference, step }) => [reference, step])).toEqual([
    ['po-lacks', 'entry'],
    ['po-unknown', 'entry'],
  ]);
});

import { expect, it } from 'vitest';
import { awaited, type Tracked } from '../domain/tracked.ts';
import { ended, fold, opened } from '../fixtures/verdicts.ts';
import { watchEntries } from './watches.ts';

const failed = (reference: string, breaks: readonly string[] = []): Tracked => ({
  ...fold(awaited(reference, 0), [opened('payout'), ended('payout', 'failed')]),
  breaks,
});
const stepOf = (reference: string, isReported = true) => {
  const [since, dueAt] = [new Date(0), new Date(1_000)];
  return { reference, kind: 'payout', step: 'entry', since, dueAt, requests: 3, isReported } as const;
};

it('stands until the ledger bears the payment out, or its break was corrected', async () => {
  const unexplained = 'books.unexplained_entry';
  const payments = new Map(
    [
      failed('po-lacks', ['books.unreleased']),
      failed('po-corrected'),
      failed('po-again'),
      { ...failed('po-whole'), released: true },
      { ...awaited('po-unknown', 0), posted: true, breaks: [unexplained] },
    ].map((one) => [one.reference, one]),
  );
  const store = { load: async () => payments, collection: undefined as never };
  const { standing } = watchEntries('payout', store);
  const steps = ['po-lacks', 'po-corrected', 'po-whole', 'po-gone', 'po-unknown'].map((one) => stepOf(one));
  // A break of an earlier entry says nothing of one that people have not been shown.
  const found = await standing([...steps, stepOf('po-again', false)]);
  expect([...found.keys()].map(({ reference }) => reference)).toEqual(['po-lacks', 'po-again']);
});

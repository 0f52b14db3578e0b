import { expect, it } from 'vitest';
import type { Break } from '../domain/break.ts';
import { keptUp } from '../domain/steps.ts';
import type { Tracked } from '../domain/tracked.ts';
import { awaited } from '../domain/tracked.ts';
import { ended, fold, opened } from '../fixtures/verdicts.ts';
import { watchEntries } from './entries.ts';

const failed = (reference: string): Tracked => ({
  ...fold(awaited(reference, 0), [opened('payout'), ended('payout', 'failed')]),
  breaks: ['books.unreleased'],
});
const stepOf = (reference: string) =>
  keptUp({ reference, kind: 'payout', step: 'entry' }, 3, { limitMs: 1_000, requestsMax: 3 }, 0);

it('stands until the ledger bears the payment out, or its break was corrected', async () => {
  const payments = new Map(
    [failed('po-lacks'), failed('po-corrected'), { ...failed('po-whole'), released: true }].map((one) => [
      one.reference,
      one,
    ]),
  );
  const statuses = { 'po-lacks/entry': 'open', 'po-corrected/entry': 'resolved' };
  const { standing } = watchEntries(
    { load: async () => payments },
    {
      findAll: async (ids) =>
        Object.entries(statuses)
          .filter(([id]) => ids.includes(id))
          .map(([_id, status]) => ({ _id, status }) as Break),
    },
  );
  const steps = ['po-lacks', 'po-corrected', 'po-whole', 'po-gone'].map(stepOf);
  expect((await standing(steps)).map(({ reference }) => reference)).toEqual(['po-lacks']);
});

import { expect, it } from 'vitest';
import type { Break } from '../domain/break.ts';
import type { Tracked } from '../domain/tracked.ts';
import { awaited } from '../domain/tracked.ts';
import { ended, fold, opened } from '../fixtures/verdicts.ts';
import { watchEntries } from './entries.ts';

const failed = (reference: string): Tracked =>
  fold(awaited(reference, 0), [opened('payout'), ended('payout', 'failed')]);
const stepOf = (reference: string, isReported = true) => {
  const [since, dueAt] = [new Date(0), new Date(1_000)];
  return { reference, kind: 'payout', step: 'entry', since, dueAt, requests: 3, isReported } as const;
};

it('stands until the ledger bears the payment out, or its break was corrected', async () => {
  const payments = new Map(
    [
      failed('po-lacks'),
      failed('po-corrected'),
      failed('po-again'),
      { ...failed('po-whole'), released: true },
    ].map((one) => [one.reference, one]),
  );
  const statuses = {
    'po-lacks/entry': 'open',
    'po-corrected/entry': 'resolved',
    'po-again/entry': 'resolved',
  };
  const { standing } = watchEntries(
    'payout',
    { load: async () => payments, collection: undefined as never },
    {
      findAll: async (ids) =>
        Object.entries(statuses)
          .filter(([id]) => ids.includes(id))
          .map(([_id, status]) => ({ _id, status }) as Break),
    },
    1_000,
  );
  const steps = ['po-lacks', 'po-corrected', 'po-whole', 'po-gone'].map((one) => stepOf(one));
  // A break of an earlier entry says nothing of one that people have not been shown.
  const found = await standing([...steps, stepOf('po-again', false)]);
  expect(found.map(({ reference }) => reference)).toEqual(['po-lacks', 'po-again']);
});

it.each([
  ['payout', 'collection-gateway', 'collections'],
  ['collection', 'payout-gateway', 'payouts'],
] as const)('of a %s waits neither for %s nor for the topic of %s', (kind, gateway, topic) => {
  const { hops } = watchEntries(
    kind,
    { load: async () => new Map(), collection: undefined as never },
    { findAll: async () => [] },
    1_000,
  );
  expect(hops.map(({ by }) => by)).not.toContain(gateway);
  expect(hops.flatMap(({ topics }) => topics)).not.toContain(topic);
});

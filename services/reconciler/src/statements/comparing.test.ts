import type { Messaging } from '@pesewa/messaging';
import { expect, it } from 'vitest';
import type { Window, WindowPayment } from '../matching/payments.ts';
import { createComparing, createTakingUpLate } from './comparing.ts';
import type { StatementDeps } from './deps.ts';
import type { StatementDocument } from './store.ts';

const at = (ms: number) => new Date(ms);

it('takes up late ends for ten seconds, and then goes on where it stopped, behind what else is due', async () => {
  const kept = { _id: 'st-1', rail: 'upstream', stage: 'done', dueAt: at(500) } as StatementDocument;
  let nowMs = 1_000;
  const taken: string[] = [];
  const updates: (readonly [object, object])[] = [];
  // None of them is in a statement, and all stay to be compared.
  const pages = [10, 20, 30].map((ms): readonly WindowPayment[] => [
    { _id: `po-${ms}`, endedAt: at(ms), status: 'completed' },
  ]);
  const groupCommit = () => ({
    submit: async ({ payments }: { readonly payments: readonly WindowPayment[] }) => {
      taken.push(...payments.map(({ _id }) => _id));
      nowMs += 6_000;
    },
  });
  const deps = {
    clock: { nowMs: () => nowMs },
    messaging: { groupCommit: groupCommit as unknown as Messaging['groupCommit'] },
    statementStore: {
      runs: {
        findOne: async () => kept,
        updateOne: async (which: object, update: object) => void updates.push([which, update]),
      },
    },
    payments: {
      uncompared: async function* ({ from }: Window) {
        yield* pages.filter(([one]) => (one?.endedAt ?? at(0)) >= from);
      },
    },
  } as unknown as StatementDeps;
  const takeUp = createTakingUpLate(deps, createComparing(deps));
  await takeUp(kept, async () => undefined);
  expect(taken).toEqual(['po-10', 'po-20']);
  const mine = { _id: 'st-1', stage: 'done' };
  expect(updates.splice(0)).toEqual([
    [{ _id: 'st-1' }, { $set: { lateFrom: at(20) } }],
    [{ ...mine, dueAt: at(500) }, { $set: { dueAt: at(13_000) } }],
  ]);
  await takeUp({ ...kept, dueAt: at(13_000), lateFrom: at(30) }, async () => undefined);
  expect(taken.slice(2)).toEqual(['po-30']);
  expect(updates).toEqual([
    [{ _id: 'st-1' }, { $unset: { lateFrom: true } }],
    [{ ...mine, dueAt: at(13_000) }, { $unset: { running: true, dueAt: true } }],
  ]);
});

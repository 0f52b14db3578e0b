import type { Messaging } from '@pesewa/messaging';
import { expect, it } from 'vitest';
import type { Window, WindowPayment } from '../matching/payments.ts';
import type { StatementDeps } from './deps.ts';
import { addLate } from './matching.ts';
import type { StatementDocument } from './store.ts';

const at = (ms: number) => new Date(ms);

it('takes up late ends for ten seconds, and then goes on where it stopped, behind what else is due', async () => {
  const until = { to: at(90), requestedAt: at(100) };
  const kept = { _id: 'st-1', rail: 'upstream', from: at(0), ...until } as StatementDocument;
  let nowMs = 1_000;
  const taken: string[] = [];
  const updates: object[] = [];
  const pages = [10, 20, 30].map((ms): readonly WindowPayment[] => [
    { _id: `po-${ms}`, endedAt: at(ms), status: 'completed' },
  ]);
  const groupCommit = () => ({
    submit: async ({ payments }: { readonly payments: readonly WindowPayment[] }) => {
      taken.push(...payments.map(({ _id }) => _id));
      nowMs += 6_000;
    },
  });
  const takeUp = addLate({
    clock: { nowMs: () => nowMs },
    messaging: { groupCommit: groupCommit as unknown as Messaging['groupCommit'] },
    statementStore: {
      runs: {
        find: () => ({ toArray: async () => [kept] }),
        updateOne: async (_: object, update: object) => void updates.push(update),
      },
    },
    payments: {
      uncompared: async function* ({ from }: Window) {
        yield* pages.filter(([one]) => (one?.endedAt ?? at(0)) >= from);
      },
    },
  } as unknown as StatementDeps);
  await takeUp(kept, async () => undefined);
  expect(taken).toEqual(['po-10', 'po-20']);
  expect(updates).toEqual([{ $set: { lateFrom: at(20), running: true, dueAt: at(13_000) } }]);
  await takeUp({ ...kept, lateFrom: at(20) }, async () => undefined);
  expect(taken.slice(2)).toEqual(['po-20', 'po-30']);
});

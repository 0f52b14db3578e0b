import { expect, it } from 'vitest';
import type { StatementDeps } from './deps.ts';
import { createStatementIntake } from './intake.ts';
import type { StatementDocument } from './store.ts';

it('keeps what another upload of the same file has stored completely since this one began', async () => {
  const complete = { _id: 'st-1', stage: 'gathering' } as StatementDocument;
  const never = (): never => {
    throw new Error('nothing is read or deleted');
  };
  const intake = createStatementIntake({
    statementStore: {
      runs: { updateOne: async () => ({ matchedCount: 0 }), findOne: async () => complete },
      deleteRecords: never,
    },
    messaging: { groupCommit: () => ({ submit: never }) },
    ids: { next: () => 'cm-1' },
    clock: { nowMs: () => 0 },
  } as unknown as StatementDeps);
  const content = (async function* () {
    yield never();
  })();
  expect(await intake({ ...complete, stage: 'receiving' }, content)).toEqual({ ok: true, value: complete });
});

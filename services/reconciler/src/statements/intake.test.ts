import { statementMapping } from '@pesewa/contracts';
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

it('is read while the rest of an earlier upload goes, and is refused if a later one has replaced it', async () => {
  const terms = {
    mapping: statementMapping.parse({ columns: { reference: 'Ref', amount: 'Amount' } }),
    currency: 'KES',
  };
  const receiving = { _id: 'st-1', stage: 'receiving', ...terms } as StatementDocument;
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
  let claims = 0;
  const intake = createStatementIntake({
    statementStore: {
      runs: {
        updateOne: async () => ({ matchedCount: claims++ === 0 ? 1 : 0 }),
        findOne: async () => receiving,
      },
    },
    messaging: { groupCommit: () => ({ submit: () => isRead.then(() => null) }) },
    ids: { next: () => 'cm-1' },
    clock: { nowMs: () => 0 },
    payments: { find: async () => [] },
    limits: { bytesMax: 100, linesMax: 10 },
  } as unknown as StatementDeps);
  const content = (async function* () {
    read();
    yield Buffer.from('Ref,Amount\npo-1,1\n');
  })();
  expect(await intake(receiving, content)).toMatchObject({
    ok: false,
    refusal: { code: 'dropped', message: expect.stringContaining('another upload') as unknown },
  });
});

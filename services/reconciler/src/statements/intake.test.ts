import { createHash } from 'node:crypto';
import { statementMapping } from '@pesewa/contracts';
import { expect, it } from 'vitest';
import type { StatementDeps } from './deps.ts';
import { createStatementIntake } from './intake.ts';
import type { StatementDocument } from './store.ts';

const receiving = {
  _id: 'st-2',
  stage: 'receiving',
  mapping: statementMapping.parse({ columns: { reference: 'Ref', amount: 'Amount' } }),
  currency: 'KES',
} as StatementDocument;

/** Takes an upload that is ended while it is read; `stored` is what has its name. */
async function endedWhile(stored: StatementDocument | null) {
  const intake = createStatementIntake({
    statementStore: {
      runs: {
        updateOne: async () => ({ matchedCount: 0 }),
        findOne: async (asked: { readonly name?: string }) => (asked.name === 'its name' ? stored : null),
      },
    },
    messaging: { groupCommit: () => ({ submit: async () => false }) },
    clock: { nowMs: () => 0 },
    payments: { find: async () => [] },
    limits: { bytesMax: 100, linesMax: 10 },
  } as unknown as StatementDeps);
  const content = (async function* () {
    yield Buffer.from('Ref,Amount\npo-1,1\n');
  })();
  return intake(receiving, content, { name: 'its name' });
}

it('keeps what another upload of the same file has stored completely since this one began', async () => {
  const complete = { ...receiving, _id: 'st-1', stage: 'gathering' } as const;
  expect(await endedWhile(complete)).toEqual({ ok: true, value: complete });
});

it.each([
  ['once all of it came', 'as announced', ['replaced', 'gathering']],
  ['but not for another file', 'another', ['dropped']],
])('replaces an older upload %s', async (_, announced, done) => {
  const said: string[] = [];
  const runs = {
    updateOne: async (_mine: object, { $set }: { readonly $set: { readonly stage: string } }) => {
      said.push($set.stage);
      return { matchedCount: 1 };
    },
    findOne: async () => receiving,
  };
  const intake = createStatementIntake({
    statementStore: { runs },
    messaging: { groupCommit: () => ({ submit: async () => true }) },
    clock: { nowMs: () => 0 },
    payments: { find: async () => [] },
    limits: { bytesMax: 100, linesMax: 10 },
  } as unknown as StatementDeps);
  const content = 'Ref,Amount\npo-1,1\n';
  const sha256 = createHash('sha256').update(content).digest('hex');
  const digest = announced === 'another' ? announced : sha256;
  const bytes = (async function* () {
    yield Buffer.from(content);
  })();
  await intake({ ...receiving, digest }, bytes, {
    name: 'its name',
    replace: async () => said.push('replaced'),
  });
  expect(said).toEqual(done);
});

it('is refused if a later one has replaced it', async () => {
  expect(await endedWhile(null)).toMatchObject({
    ok: false,
    refusal: { code: 'dropped', message: expect.stringContaining('another upload') as unknown },
  });
});

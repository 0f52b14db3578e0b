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
  requestedAt: new Date(0),
} as StatementDocument;

/** Takes an upload over what is stored; gives its answer, and the updates that were committed. */
async function taken({
  announced,
  other = null,
  isEnded = false,
}: {
  readonly announced?: string;
  readonly other?: StatementDocument | null;
  readonly isEnded?: boolean;
}) {
  const committed: object[] = [];
  let written: object[] = [];
  const session = {
    withTransaction: async <Value>(work: () => Promise<Value>) => {
      written = [];
      const value = await work();
      committed.push(...written);
      return value;
    },
  };
  const content = 'Ref,Amount\npo-1,1\n';
  const intake = createStatementIntake({
    statementStore: {
      runs: {
        updateOne: async (_: object, update: object, options?: object) =>
          void (options ? written : committed).push(update),
        findOne: async ({ name }: { readonly name?: string }) =>
          name === 'its name' ? other : isEnded ? null : receiving,
      },
    },
    messaging: {
      db: { client: { withSession: async (work: (of: object) => Promise<unknown>) => work(session) } },
      groupCommit: () => ({ submit: async () => !isEnded }),
    },
    clock: { nowMs: () => 0 },
    payments: { find: async () => [] },
    limits: { bytesMax: 100, linesMax: 10 },
  } as unknown as StatementDeps);
  const bytes = (async function* () {
    yield Buffer.from(content);
  })();
  const digest = announced ?? createHash('sha256').update(content).digest('hex');
  return { answer: await intake({ ...receiving, digest }, bytes, 'its name'), committed };
}

it('keeps what another upload of the same file has stored completely since this one began', async () => {
  const complete = { ...receiving, _id: 'st-1', stage: 'gathering' } as const;
  const { answer } = await taken({ other: complete, isEnded: true });
  expect(answer).toEqual({ ok: true, value: complete });
});

it('drops what another mapping has read in the transaction that names its own reading, and not before', async () => {
  const { committed } = await taken({});
  expect(committed).toMatchObject([
    { $set: { stage: 'dropped', replacedBy: 'st-2' }, $unset: { name: true } },
    { $set: { stage: 'gathering', name: 'its name' } },
  ]);
});

it('drops itself alone if another file came than was announced', async () => {
  const { answer, committed } = await taken({ announced: 'another' });
  expect(answer).toMatchObject({ ok: false, refusal: { code: 'digest_differs' } });
  expect(committed).toMatchObject([{ $set: { stage: 'dropped' } }]);
});

it('is refused if a later one has replaced it', async () => {
  const { answer } = await taken({ isEnded: true });
  expect(answer).toMatchObject({
    ok: false,
    refusal: { code: 'dropped', message: expect.stringContaining('another upload') as unknown },
  });
});

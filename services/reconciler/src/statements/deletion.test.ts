import { expect, it } from 'vitest';
import { createDeletion } from './deletion.ts';
import type { StatementDeps } from './deps.ts';

it('deletes nothing that another upload of the same file has stored since', async () => {
  const session = 'the transaction';
  const held = { _id: 'st-1', claim: 'cm-1', stage: 'receiving' } as const;
  const run: { -readonly [Field in keyof typeof held]: string } = { ...held };
  let lines = ['st-1/1', 'st-1/2'];
  /** The other upload claims the statement, and stores lines that have the same ids, once a page is deleted. */
  const replace = () => {
    if (run.claim === 'cm-2') return;
    run.claim = 'cm-2';
    lines = ['st-1/1', 'st-1/2'];
  };
  const deleteRecords = createDeletion({
    statementStore: {
      runs: {
        findOne: async (asked: typeof held, options: object) => {
          expect(options).toEqual({ session });
          return asked.claim === run.claim && asked.stage === run.stage ? run : null;
        },
      },
      records: {
        find: (asked: object, options: object) => {
          expect([asked, options]).toMatchObject([{ run: 'st-1' }, { session }]);
          return { toArray: async () => lines.map((_id) => ({ _id })) };
        },
        deleteMany: async ({ _id: { $in } }: { _id: { $in: readonly string[] } }, options: object) => {
          expect(options).toEqual({ session });
          lines = lines.filter((one) => !$in.includes(one));
          replace();
        },
      },
    },
    messaging: {
      groupCommit: (_: string, apply: (items: readonly unknown[], given: object) => Promise<unknown[]>) => ({
        submit: async (item: unknown) => (await apply([item], { session }))[0],
      }),
    },
  } as unknown as StatementDeps);
  expect(await deleteRecords(held)).toBe(false);
  expect(lines).toEqual(['st-1/1', 'st-1/2']);
});

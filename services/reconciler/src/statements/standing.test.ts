import type { Transaction } from '@pesewa/messaging';
import { expect, it } from 'vitest';
import { breaksInMemory } from '../fixtures/breaks.ts';
import { row } from '../fixtures/statement-rows.ts';
import { open } from './breaks.ts';
import { takeBack } from './dropping.ts';
import { lineId, type RecordDocument, type StatementDocument, subjectOf } from './store.ts';

type Operation = {
  readonly updateOne: {
    readonly filter: { readonly _id: string };
    readonly update: Readonly<Record<string, { readonly breaks: string & readonly string[] }>>;
  };
};

/** Statements with records in memory, and the breaks that stand by them. */
function statements(...given: readonly RecordDocument[]) {
  const records = new Map(given.map((one) => [one._id, one]));
  const { kept, store: breaks } = breaksInMemory();
  const found = ({
    _id,
    result,
  }: {
    readonly _id?: { $in: string[] };
    readonly result?: { $in: string[] };
  }) => [...records.values()].filter((one) => _id?.$in.includes(one._id) && result?.$in.includes(one.result));
  const write = ({ updateOne: { filter, update } }: Operation) => {
    const one = records.get(filter._id);
    if (!one) return;
    const { $set, $addToSet, $pull } = update;
    const said = new Set($set?.breaks ?? one.breaks);
    if ($addToSet) said.add($addToSet.breaks);
    if ($pull) said.delete($pull.breaks);
    records.set(one._id, { ...one, breaks: [...said] });
  };
  const deps = {
    clock: { nowMs: () => 0 },
    breaks,
    breaksMax: 10,
    store: { load: async () => [], save: async () => undefined },
    statementStore: {
      runs: {
        findOne: async () => ({ opened: 0 }),
        find: () => ({ sort: () => ({ toArray: async () => [] }) }),
        updateOne: async () => undefined,
      },
      records: {
        find: (where: Parameters<typeof found>[0]) => ({ toArray: async () => found(where) }),
        distinct: async () => [...records.values()].flatMap((one) => one.breaks ?? []),
        bulkWrite: async (operations: readonly Operation[]) => {
          for (const one of operations) write(one);
        },
      },
    },
  } as unknown as Parameters<typeof open>[0];
  const transaction = { session: {}, emit: () => undefined } as unknown as Transaction;
  const of = (run: string) => [...records.values()].filter((one) => one.run === run);
  return {
    kept,
    of,
    open: (run: string) => {
      const statement = { _id: run, rail: 'upstream' } as StatementDocument;
      return open(deps, { statement, items: of(run) }, transaction);
    },
    replace: async (run: string, replacedBy: string) => {
      await takeBack(deps, { replacedBy, items: of(run) }, transaction);
      for (const { _id } of of(run)) records.delete(_id);
    },
  };
}

function record(run: string, line: number, said: Partial<RecordDocument>): RecordDocument {
  const differences = [{ field: 'existence', minor: said.row?.amount ?? 0n }] as const;
  const keepUntil = new Date(0);
  return { _id: lineId(run, line), run, line, keepUntil, result: 'not_in_books', differences, ...said };
}
const nameless = row({ reference: null, railReference: 'R1' });
const id = `${subjectOf('upstream', { row: nameless, result: 'not_in_books' })}/existence`;

it('what a mapping said of a line is taken back by the first one after it that reads the line', async () => {
  const matched = { result: 'matched', payment: 'po-1', compared: ['existence'], differences: [] } as const;
  const {
    kept,
    of,
    open: openOf,
    replace,
  } = statements(
    record('st-1', 5, { row: nameless }),
    record('st-2', 5, { result: 'unreadable', differences: [] }),
    record('st-3', 5, matched),
  );
  await openOf('st-1');
  expect(kept.get(id)?.status).toBe('open');
  await replace('st-1', 'st-2');
  await openOf('st-2');
  expect(kept.get(id)?.status).toBe('open');
  expect(of('st-2')).toMatchObject([{ breaks: [id] }]);
  await replace('st-2', 'st-3');
  expect(kept.get(id)?.status).toBe('resolved');
});

it('what a mapping says of a line is added to what another one said of it', async () => {
  const { of, open: openOf } = statements(record('st-1', 5, { row: nameless, breaks: ['po-1/fee'] }));
  await openOf('st-1');
  expect(of('st-1')).toMatchObject([{ breaks: [id, 'po-1/fee'] }]);
});

it('a break has the amount of the statement that is left, of whose lines the first counts', async () => {
  const { kept, open: openOf } = statements(
    record('st-1', 5, { row: nameless }),
    record('st-1', 6, { row: { ...nameless, amount: 7n } }),
    record('st-2', 5, { row: { ...nameless, amount: 9n } }),
  );
  await openOf('st-1');
  expect(kept.get(id)).toMatchObject({ amount: nameless.amount, version: 1 });
  await openOf('st-1');
  expect(kept.get(id)).toMatchObject({ amount: nameless.amount, version: 1 });
  await openOf('st-2');
  expect(kept.get(id)?.amount).toBe(9n);
  await openOf('st-1');
  expect(kept.get(id)?.amount).toBe(nameless.amount);
});

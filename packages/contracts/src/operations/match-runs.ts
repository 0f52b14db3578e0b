import { z } from 'zod';
import { pageCursor, pageOf, recordQueries } from './lists.ts';
import { declareOperations, fileAnswer } from './operation.ts';

/** What distinguishes the runs of a source from those of another. */
interface RunShape<
  Path extends string,
  Run extends z.ZodType,
  Item extends z.ZodType,
  Results extends readonly [string, ...string[]],
> {
  readonly path: Path;
  readonly run: Run;
  readonly record: Item;
  readonly results: Results;
  /** What a run and its records are called, for people. */
  readonly called: readonly [run: string, runs: string, records: string];
}

/** The operations that runs of any source have: lists of runs and of records, one run, and its export. */
export function runOperations<
  const Path extends string,
  Run extends z.ZodType,
  Item extends z.ZodType,
  const Results extends readonly [string, ...string[]],
>({ path, run, record, results, called: [name, names, parts] }: RunShape<Path, Run, Item, Results>) {
  const records = recordQueries(results);
  return declareOperations({
    list: {
      method: 'get',
      path: `/${path}`,
      summary: `Lists ${names}, newest first`,
      query: z.object({ cursor: pageCursor.optional() }),
      answers: { 200: pageOf(run) },
      pages: 'cursor',
    },
    show: {
      method: 'get',
      path: `/${path}/{id}`,
      summary: `Shows how far ${name} is, and what it gave`,
      answers: { 200: run },
      refusals: { not_found: 404 },
    },
    records: {
      method: 'get',
      path: `/${path}/{id}/records`,
      summary: `Lists ${parts}`,
      query: records.page,
      answers: { 200: pageOf(record) },
      refusals: { not_found: 404 },
      pages: 'cursor',
    },
    export: {
      method: 'get',
      path: `/${path}/{id}/export`,
      summary: `Streams ${parts} as CSV or JSON, once done`,
      query: records.export,
      answers: { 200: fileAnswer },
      refusals: { not_found: 404, not_done: 409 },
    },
  });
}

import { type ExportFormat, formatPageCursor, type PageCursor } from '@pesewa/contracts';
import { nextCursor } from '@pesewa/messaging';
import { answer, refused } from '@pesewa/runtime';
import { answerFile, type Export, exportItems } from '../exports.ts';
import {
  type MatchRecord,
  type MatchRun,
  type MatchStore,
  type RecordQuery,
  type ResultCounts,
} from './store.ts';

/** How the runs of a source are shown to operators. */
export interface ShownRuns<
  Run extends MatchRun,
  Record extends MatchRecord,
  RunView,
  RecordView extends object,
> {
  /** What a run is called, in refusals and exports. */
  readonly noun: string;
  readonly store: Pick<MatchStore<Run, Record>, 'find' | 'list'> & {
    readonly readRecords: (query: RecordQuery) => AsyncIterable<Record>;
  };
  readonly viewRun: (run: Run) => RunView | Promise<RunView>;
  readonly viewRecord: (record: Record) => RecordView;
  /** The columns of a CSV file, one line for each record. */
  readonly columns: Export<Record, RecordView>['columns'];
}

interface OfRun<Query> {
  readonly parameters: { readonly id: string };
  readonly query: Query;
}

type Narrowed = Pick<RecordQuery, 'result'>;

const RUNS_PER_PAGE = 50;

/** The handlers of the operations that all sources have: lists of runs and of records, one run, and its export. */
export function showRuns<
  Run extends MatchRun,
  Record extends MatchRecord,
  RunView extends object,
  RecordView extends object,
>({ noun, store, viewRun, viewRecord, columns }: ShownRuns<Run, Record, RunView, RecordView>) {
  const unknown = refused('not_found', `id: there is no such ${noun}`);
  return {
    list: async ({ query: { cursor } }: { readonly query: { readonly cursor?: PageCursor | undefined } }) => {
      const found = await store.list(cursor, RUNS_PER_PAGE);
      const next = nextCursor(found, RUNS_PER_PAGE, ({ requestedAt }) => requestedAt);
      const items = await Promise.all(found.map(async (run) => viewRun(run)));
      return answer(200, { items, next: next && formatPageCursor(next) });
    },
    show: async ({ parameters: { id } }: Pick<OfRun<unknown>, 'parameters'>) => {
      const found = await store.find(id);
      return found ? answer(200, await viewRun(found)) : unknown;
    },
    records: async ({
      parameters: { id: run },
      query: { result, cursor: after, limit },
    }: OfRun<Narrowed & { readonly cursor?: string | undefined; readonly limit: number }>) => {
      if (!(await store.find(run))) return unknown;
      const items = await Array.fromAsync(store.readRecords({ run, result, after, limit: limit + 1 }));
      const page = items.slice(0, limit);
      const next = items.length > limit ? (page.at(-1)?._id.slice(run.length + 1) ?? null) : null;
      return answer(200, { items: page.map(viewRecord), next });
    },
    export: async ({
      parameters: { id: run },
      query: { result, format },
    }: OfRun<Narrowed & { readonly format: ExportFormat }>) => {
      const found = await store.find(run);
      if (!found) return unknown;
      if (found.stage !== 'done') {
        const message = `id: the ${noun} is not done, so not all is known: export it once its status is done`;
        return refused('not_done', message);
      }
      const about = { name: noun, view: await viewRun(found) };
      const items = store.readRecords({ run, result });
      return answerFile(
        `${noun}-${run}`,
        format,
        exportItems({ items, viewOf: viewRecord, columns, about }, format),
        // While some are asked about again, the counts are those of before.
        found.running ? undefined : found.counts && rowsOf(found.counts, result),
      );
    },
  };
}

/** How many records of a finished run have the result, or any. */
function rowsOf(counts: ResultCounts, result: string | undefined): number {
  if (result !== undefined) return counts[result] ?? 0;
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

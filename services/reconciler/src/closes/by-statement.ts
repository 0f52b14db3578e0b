import type { Clock } from '@pesewa/kernel';
import { inPages } from '../batches.ts';
import { type CloseResult, judgeByStatement } from '../domain/close.ts';
import type { Keep } from '../matching/runs.ts';
import { windowOf } from '../statements/matching.ts';
import type { RecordDocument, StatementDocument, StatementStore } from '../statements/store.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';

/** What closes take from the statements of rails that send them. */
export interface ByStatement {
  readonly sendsStatements: (rail: string) => boolean;
  /**
   * Gives the waiting records of a close the results that statements have brought since it was last called, and has those asked for
   * that they leave open.
   */
  readonly settle: (close: CloseDocument, keep: Keep) => Promise<void>;
}

/** The dependencies of {@link createByStatement}. */
export interface ByStatementDeps {
  readonly closeStore: CloseStore;
  readonly statementStore: StatementStore;
  /** The rails that send statements. */
  readonly rails: readonly string[];
  /** How long after its end a close waits for them. */
  readonly waitMs: number;
  readonly samplePercent: number;
  readonly finished: (result: CloseResult) => void;
  /** Called when there are records to be asked about. */
  readonly gathered: () => void;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Builds {@link ByStatement}. */
export function createByStatement(deps: ByStatementDeps): ByStatement {
  const { closeStore, rails, waitMs, clock } = deps;
  return {
    sendsStatements: (rail) => rails.includes(rail),
    settle: async (close, keep) => {
      const { _id, to, settledTo } = close;
      const statements = await findStatements(deps, close);
      const overAt = new Date(to.getTime() + waitMs);
      const isOver = overAt.getTime() <= clock.nowMs();
      const newest = [
        ...statements.flatMap(({ finishedAt }) => finishedAt ?? []),
        ...(isOver ? [overAt] : []),
      ];
      const upTo = new Date(Math.max(0, ...newest.map(Number)));
      // Each look would else read all waiting records again.
      if (upTo <= (settledTo ?? new Date(0))) return;
      const waiting = { run: _id, result: 'pending', waits: { $exists: false } } as const;
      const read = (after: CloseRecord | undefined, limit: number) =>
        closeStore.records
          .find({ ...waiting, _id: { $gt: after?._id ?? '' } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray();
      for await (const records of inPages<CloseRecord>(read)) {
        await keep();
        await settlePage(deps, records, statements, isOver);
      }
      await closeStore.runs.updateOne({ _id }, { $set: { settledTo: upTo } });
      deps.gathered();
    },
  };
}

/** The matched statements that may be about a close. */
async function findStatements(
  { statementStore, rails }: ByStatementDeps,
  { from, rail }: CloseDocument,
): Promise<readonly StatementDocument[]> {
  const of = rail === null ? { $in: [...rails] } : rail;
  const about = { rail: of, stage: 'done', trial: { $exists: false }, finishedAt: { $gte: from } } as const;
  return statementStore.runs.find(about).toArray();
}

async function settlePage(
  deps: ByStatementDeps,
  records: readonly CloseRecord[],
  statements: readonly StatementDocument[],
  isOver: boolean,
): Promise<void> {
  const { closeStore, statementStore, samplePercent } = deps;
  const uses = { $in: records.map(({ reference }) => reference) };
  const found = await statementStore.records
    .find({ uses, run: { $in: statements.map(({ _id }) => _id) } })
    .project<Pick<RecordDocument, 'uses' | 'result' | 'row'>>({ uses: 1, result: 1, row: 1 })
    .toArray();
  const linesOf = Map.groupBy(found, (line) => line.uses);
  const dueAt = new Date(deps.clock.nowMs());
  const writes = records.flatMap((record) => {
    const { _id, reference, ours, rail: waits } = record;
    if (!ours) return [];
    const lines = linesOf.get(reference) ?? [];
    const isCovered = statements.some((statement) => covers(statement, record));
    const results = lines.map(({ result }) => result);
    const verdict = judgeByStatement({ reference, ours, lines: results, isCovered, isOver, samplePercent });
    if (verdict === 'wait') return [];
    const row = lines[0]?.row;
    const theirs = row && { status: row.status, amount: row.amount, fee: row.fee };
    const set =
      verdict === 'ask' ? { waits, dueAt } : { result: 'matched' as const, ...(theirs && { theirs }) };
    if (verdict === 'matched') deps.finished('matched');
    return [{ updateOne: { filter: { _id, result: 'pending' as const }, update: { $set: set } } }];
  });
  if (writes.length > 0) await closeStore.records.bulkWrite(writes, { ordered: false });
}

function covers(statement: StatementDocument, { rail, currency, endedAt }: CloseRecord): boolean {
  const window = windowOf(statement);
  const isOfCurrency =
    statement.currency === null ? statement.currencies.includes(currency) : statement.currency === currency;
  return (
    statement.rail === rail &&
    isOfCurrency &&
    window !== undefined &&
    window.from <= endedAt &&
    endedAt < window.to
  );
}

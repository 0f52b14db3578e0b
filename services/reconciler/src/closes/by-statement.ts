import type { Clock } from '@pesewa/kernel';
import type { AnyBulkWriteOperation } from 'mongodb';
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
  readonly finished: (result: CloseResult, records: number) => void;
  /** Called when there are records to be asked about. */
  readonly gathered: () => void;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Stands for the end of the wait among what has been heard. */
const OVER = 'over';

/** Records that no rail was asked about yet. */
const unasked = { result: 'pending', tries: 0, claim: { $exists: false } } as const;

/** Builds {@link ByStatement}. */
export function createByStatement(deps: ByStatementDeps): ByStatement {
  const { closeStore, rails, waitMs, clock } = deps;
  return {
    sendsStatements: (rail) => rails.includes(rail),
    settle: async (close, keep) => {
      const { _id, claim, to, settledBy = [] } = close;
      const statements = await findStatements(deps, close);
      const isOver = to.getTime() + waitMs <= clock.nowMs();
      const heard = [
        ...statements.map((statement) => `${statement._id} ${Number(statement.finishedAt)}`),
        ...(isOver ? [OVER] : []),
      ];
      // Each look would else read all waiting records again. Not by times, which replicas' clocks give.
      if (heard.every((one) => settledBy.includes(one))) return;
      const waiting = { run: _id, ...unasked } as const;
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
      const mine = { _id, ...(claim !== undefined && { claim }) };
      await closeStore.runs.updateOne(mine, { $set: { settledBy: heard } });
      deps.gathered();
    },
  };
}

const FIELDS = {
  rail: 1,
  currency: 1,
  currencies: 1,
  from: 1,
  to: 1,
  firstAt: 1,
  lastAt: 1,
  finishedAt: 1,
  'counts.unreadable': 1,
  'mapping.holds': 1,
} as const;

/** What a close reads of a statement. */
type Heard = Pick<
  StatementDocument,
  '_id' | 'finishedAt' | 'currency' | 'currencies' | 'counts' | 'mapping'
> &
  Parameters<typeof windowOf>[0];

/** The matched statements that may be about a close. */
async function findStatements(
  { statementStore, rails }: ByStatementDeps,
  { from, rail }: CloseDocument,
): Promise<readonly Heard[]> {
  const of = rail === null ? { $in: [...rails] } : rail;
  const about = { rail: of, stage: 'done', trial: { $exists: false }, finishedAt: { $gte: from } } as const;
  return statementStore.runs.find(about).project<Heard>(FIELDS).toArray();
}

type Write = AnyBulkWriteOperation<CloseRecord>;

async function settlePage(
  deps: ByStatementDeps,
  records: readonly CloseRecord[],
  statements: readonly Heard[],
  isOver: boolean,
): Promise<void> {
  const { closeStore, samplePercent } = deps;
  const linesOf = await findLines(deps, records, statements);
  const dueAt = new Date(deps.clock.nowMs());
  const writes = records.flatMap(
    (record): { readonly verdict: 'matched' | 'ask'; readonly write: Write }[] => {
      const { _id, reference, ours, rail: waits } = record;
      if (!ours) return [];
      const lines = linesOf.get(reference) ?? [];
      const isCovered = statements.some((statement) => covers(statement, record));
      const verdict = judgeByStatement({ reference, ours, lines, isCovered, isOver, samplePercent });
      if (verdict === 'wait' || (verdict === 'ask' && record.waits !== undefined)) return [];
      const filter = { _id, ...unasked };
      if (verdict === 'ask')
        return [{ verdict, write: { updateOne: { filter, update: { $set: { waits, dueAt } } } } }];
      const line = lines.findLast(({ status }) => status !== 'pending');
      const theirs = line && { status: ours.status, amount: line.amount, fee: line.fee };
      const update = {
        $set: { result: 'matched' as const, ...(theirs && { theirs }) },
        $unset: { waits: true, dueAt: true } as const,
      };
      return [{ verdict, write: { updateOne: { filter, update } } }];
    },
  );
  for (const [verdict, ofVerdict] of Map.groupBy(writes, (one) => one.verdict)) {
    const all = ofVerdict.map(({ write }) => write);
    const { modifiedCount } = await closeStore.records.bulkWrite(all, { ordered: false });
    if (verdict === 'matched') deps.finished(verdict, modifiedCount);
  }
}

/** The lines that stand for movements of payments, by payment. */
async function findLines(
  { statementStore }: ByStatementDeps,
  records: readonly CloseRecord[],
  statements: readonly Heard[],
) {
  const movements = records.flatMap(({ reference }) => [reference, `${reference}/reversal`]);
  const found = await statementStore.records
    .find({ uses: { $in: movements }, run: { $in: statements.map(({ _id }) => _id) } })
    .project<Pick<RecordDocument, 'payment' | 'uses' | 'result' | 'row'>>({
      payment: 1,
      uses: 1,
      result: 1,
      row: 1,
    })
    .toArray();
  const lines = found.flatMap(({ payment = '', uses, result, row }) =>
    row ? [{ payment, result, isReversal: uses !== payment, ...row }] : [],
  );
  return Map.groupBy(lines, ({ payment }) => payment);
}

/** Whether a payment that moved money must have a line in a statement: an unreadable line may be anybody's. */
function covers(statement: Heard, { rail, kind, currency, endedAt }: CloseRecord): boolean {
  const { mapping, counts } = statement;
  const window = windowOf(statement);
  const isOfCurrency =
    statement.currency === null ? statement.currencies.includes(currency) : statement.currency === currency;
  return (
    statement.rail === rail &&
    isOfCurrency &&
    (mapping.holds === undefined || mapping.holds === `${kind}s`) &&
    (counts?.['unreadable'] ?? 0) === 0 &&
    window !== undefined &&
    window.from <= endedAt &&
    endedAt < window.to
  );
}

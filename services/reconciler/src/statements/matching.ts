import { commitEach, inPages } from '../batches.ts';
import { createGathering, type Gathering, type GatheringDeps } from '../matching/gathering.ts';
import type { WindowPayment, WindowPayments } from '../matching/payments.ts';
import type { Keep } from '../matching/runs.ts';
import { matchAgain, type SettlingDeps, settle } from './settling.ts';
import type { RecordDocument, StatementDocument } from './store.ts';
import { mustHave, windowOf } from './window.ts';

/** The dependencies of {@link gatherMissing}. */
export interface MissingDeps extends SettlingDeps {
  readonly payments: SettlingDeps['payments'] & Pick<WindowPayments, 'read' | 'uncompared' | 'compareAgain'>;
  readonly messaging: GatheringDeps<StatementDocument, RecordDocument>['messaging'];
}

/** Lists the payments that ended in a statement's window, moved money and have no line. */
export function gatherMissing(deps: MissingDeps): Gathering<StatementDocument> {
  return createGathering<StatementDocument, RecordDocument>({
    ...deps,
    store: deps.statementStore,
    recordsOf: (statement, payments, transaction) => settle(deps, [statement], payments, transaction),
    next: 'breaks',
  });
}

/** The statements of a rail whose payments were read. */
const matchedOf = (rail: string) => ({
  rail,
  stage: { $in: ['breaks', 'done', 'late'] as const },
  trial: { $exists: false },
});

/** How long after the last line of a statement a payment may have ended here that has a line in it. */
const LINE_LEAD_MS = 3_600_000;

/**
 * Builds what takes up the payments of a rail that ended, or were heard of, after the statements that they belong to were
 * matched: their lines are compared again, and those without one are listed as missing. Statements that change have their
 * breaks opened and closed next.
 */
export function addLate(deps: MissingDeps): (statement: StatementDocument, keep: Keep) => Promise<void> {
  const { runs, records } = deps.statementStore;
  const take = commitEach(
    deps.messaging,
    'reconciler.match-page',
    async ({ rail, payments }: { rail: string; payments: readonly WindowPayment[] }, transaction) => {
      const { session } = transaction;
      const done = await runs.find(matchedOf(rail), { session }).sort({ requestedAt: -1 }).toArray();
      const missing = await settle(deps, done, payments, transaction);
      const writes = missing.map((record) => ({
        replaceOne: { filter: { _id: record._id }, replacement: record, upsert: true },
      }));
      if (writes.length > 0) await records.bulkWrite(writes, { session, ordered: false });
      await matchAgain(deps, new Set(missing.map(({ run }) => run)), transaction);
    },
  );
  return async ({ _id, rail }, keep) => {
    const done = await runs.find(matchedOf(rail)).toArray();
    const ends = done.flatMap((one) => windowOf(one)?.to.getTime() ?? []);
    const window = { from: new Date(0), to: new Date(Math.max(0, ...ends) + LINE_LEAD_MS), rail };
    for await (const payments of deps.payments.uncompared(window)) {
      await keep();
      await take({ rail, payments });
    }
    const over = {
      $set: { stage: 'done' },
      $unset: { running: true, dueAt: true, rereading: true },
    } as const;
    await runs.updateOne({ _id, stage: 'late' }, over);
  };
}

/** Has the payments that a dropped statement was about compared by another one. */
export async function compareAgain(
  { payments }: Pick<MissingDeps, 'payments'>,
  statement: StatementDocument,
  keep: Keep,
): Promise<void> {
  const window = windowOf(statement);
  if (!window || statement.file === undefined) return;
  const pages = inPages<WindowPayment>((last, limit) => {
    const after = last?.endedAt && { endedAt: last.endedAt, reference: last._id };
    return payments.read(window, after, limit);
  });
  for await (const page of pages) {
    await keep();
    await payments.compareAgain(page.filter((payment) => mustHave(statement, payment)));
  }
}

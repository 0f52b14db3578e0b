import { commitEach } from '../batches.ts';
import type { WindowPayment } from '../matching/payments.ts';
import type { Keep } from '../matching/store.ts';
import type { StatementDeps } from './deps.ts';
import { type PaymentsOfRail, settle } from './settling.ts';
import { STORED, type StatementDocument } from './store.ts';

/** How long after the last line of a statement a payment may have ended here that has a line in it. */
const LINE_LEAD_MS = 3_600_000;
/** After how long others that are due come first: late ends may be millions. */
const SLICE_MS = 10_000;

/** Nobody else takes the steps of a dry run. */
export const alone: Keep = async () => {};

/** Compares pages of payments of a rail with its statements, or with a dry run alone. */
export type Compare = (
  pages: AsyncIterable<readonly WindowPayment[]>,
  of: Omit<PaymentsOfRail, 'payments'>,
  keep: Keep,
  /** When to stop. */
  untilMs?: number,
) => Promise<WindowPayment | undefined>;

/** Builds what compares payments; it gives the last payment of its last page if it has stopped, for time, behind that. */
export function createComparing(deps: StatementDeps): Compare {
  const settleOnce = commitEach(
    deps.messaging,
    'reconciler.match-page',
    (page: PaymentsOfRail, transaction) => settle(deps, page, transaction),
  );
  return async (pages, of, keep, untilMs = Number.POSITIVE_INFINITY) => {
    for await (const payments of pages) {
      await keep();
      await settleOnce({ ...of, payments });
      if (deps.clock.nowMs() >= untilMs) return payments.at(-1);
    }
    return undefined;
  };
}

/**
 * Builds what takes up the payments of a rail that ended, or were heard of, after the statements of their time were
 * matched: for ten seconds, and then, behind what else is due, from where it stopped. Those that no statement is about
 * stay, and are passed over.
 */
export function createTakingUpLate(
  { statementStore: { runs }, payments, clock }: StatementDeps,
  compare: Compare,
) {
  return async (statement: StatementDocument, keep: Keep): Promise<void> => {
    const { _id, rail, dueAt, lateFrom: from = new Date(0) } = statement;
    const untilMs = clock.nowMs() + SLICE_MS;
    const last = await runs.findOne({ rail, stage: { $in: [...STORED] } }, { sort: { 'window.to': -1 } });
    const to = new Date((last?.window?.to.getTime() ?? 0) + LINE_LEAD_MS);
    const stoppedAt = await compare(payments.uncompared({ from, to, rail }), { rail }, keep, untilMs);
    const lateFrom = stoppedAt?.endedAt;
    await runs.updateOne({ _id }, lateFrom ? { $set: { lateFrom } } : { $unset: { lateFrom: true } });
    // What came meanwhile has made it due again, or has it open its breaks first.
    await runs.updateOne(
      { _id, stage: 'done', ...(dueAt && { dueAt }) },
      lateFrom ? { $set: { dueAt: new Date(clock.nowMs()) } } : { $unset: { running: true, dueAt: true } },
    );
  };
}

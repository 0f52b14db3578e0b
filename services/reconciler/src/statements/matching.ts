import { commitEach, inBatches, inPages } from '../batches.ts';
import type { WindowPayment } from '../matching/payments.ts';
import type { Keep } from '../matching/store.ts';
import type { StatementDeps } from './deps.ts';
import { matchAgain, movementsOf, settle } from './settling.ts';
import { linesAbout, paymentRecordId, type StatementDocument } from './store.ts';
import { mustHave, windowOf } from './window.ts';

/** The statements of a rail whose payments were read. */
const matchedOf = (rail: string) => ({
  rail,
  stage: { $in: ['breaks', 'done'] as const },
  trial: { $exists: false },
});

/** Those of them that may have to have one of these payments: of the time of their ends, which are in order. */
const mayHave = (rail: string, payments: readonly WindowPayment[]) => {
  const [first, last] = [payments[0]?.endedAt, payments.at(-1)?.endedAt];
  if (!first || !last) throw new Error('a payment that is to be compared has no end');
  const begins = [{ from: { $lte: last } }, { from: null, firstAt: { $lte: last } }];
  return { ...matchedOf(rail), requestedAt: { $gt: first }, $or: begins };
};

/** How long late ends of a rail are taken up without a break. */
const SLICE_MS = 10_000;
/** How long after the last line of a statement a payment may have ended here that has a line in it. */
const LINE_LEAD_MS = 3_600_000;

/**
 * Builds what takes up the payments of a rail that ended, or were heard of, after the statements that they belong to were
 * matched: their lines are compared again, and those without one are listed as missing. Statements that change have their
 * breaks opened and closed next. After a while others that are due come first, since there may be millions.
 */
export function addLate(deps: StatementDeps): (statement: StatementDocument, keep: Keep) => Promise<void> {
  const { runs, records } = deps.statementStore;
  const take = commitEach(
    deps.messaging,
    'reconciler.match-page',
    async ({ rail, payments }: { rail: string; payments: readonly WindowPayment[] }, transaction) => {
      const { session } = transaction;
      const done = await runs.find(mayHave(rail, payments), { session }).sort({ requestedAt: -1 }).toArray();
      const missing = await settle(deps, done, payments, transaction);
      const writes = missing.map(({ _id, ...record }) => ({
        updateOne: { filter: { _id }, update: { $setOnInsert: record }, upsert: true },
      }));
      const written =
        writes.length > 0 ? await records.bulkWrite(writes, { session, ordered: false }) : undefined;
      const fresh = missing.filter((_, index) => written?.upsertedIds[index] !== undefined);
      await matchAgain(deps, new Set(fresh.map(({ run }) => run)), transaction);
    },
  );
  return async ({ _id, rail, dueAt: takenAt, lateFrom = new Date(0) }, keep) => {
    const untilMs = deps.clock.nowMs() + SLICE_MS;
    const done = await runs.find(matchedOf(rail)).toArray();
    const ends = done.flatMap((one) => windowOf(one)?.to.getTime() ?? []);
    const window = { from: lateFrom, to: new Date(Math.max(0, ...ends) + LINE_LEAD_MS), rail };
    for await (const payments of deps.payments.uncompared(window)) {
      await keep();
      await take({ rail, payments });
      const last = payments.at(-1)?.endedAt;
      if (deps.clock.nowMs() < untilMs || !last) continue;
      const dueAt = new Date(deps.clock.nowMs());
      await runs.updateOne({ _id }, { $set: { lateFrom: last, running: true, dueAt } });
      return;
    }
    await runs.updateOne({ _id }, { $unset: { lateFrom: true } });
    // What came meanwhile has made it due again.
    const over = { _id, stage: 'done', ...(takenAt && { dueAt: takenAt }) } as const;
    await runs.updateOne(over, { $unset: { running: true, dueAt: true } });
  };
}

/**
 * Builds what has the payments that a dropped statement has compared, by a line or for want of one, compared by another
 * one. What its lines took back of other statements, or kept from being said, those say again.
 */
export function compareAgain(
  deps: StatementDeps,
): (statement: StatementDocument, keep: Keep) => Promise<void> {
  const { payments, statementStore } = deps;
  const { runs, records } = statementStore;
  const giveBack = commitEach(
    deps.messaging,
    'reconciler.match-page',
    async (
      { done, page }: { done: readonly StatementDocument[]; page: readonly WindowPayment[] },
      transaction,
    ) => {
      const { session } = transaction;
      const lines = await linesAbout(
        statementStore,
        page.map(({ _id }) => _id),
        transaction,
      );
      const movements = movementsOf(lines, new Map());
      const missing = page
        .filter(({ _id }) => !movements.has(_id))
        .flatMap((payment) =>
          done.filter((one) => mustHave(one, payment)).map(({ _id }) => paymentRecordId(_id, payment._id)),
        );
      const differing = lines.filter(({ result }) => result === 'differs').map(({ _id }) => _id);
      const unsaid = { _id: { $in: [...differing, ...missing] } };
      const changed = await records.distinct('run', unsaid, { session });
      const gone = { breakId: true, alsoCoveredBy: true } as const;
      await records.updateMany(unsaid, { $unset: gone }, { session });
      await matchAgain(deps, new Set(changed), transaction);
    },
  );
  return async (statement, keep) => {
    const window = windowOf(statement);
    if (statement.file === undefined) return;
    const ended = inPages<WindowPayment>(async (last, limit) => {
      const after = last?.endedAt && { endedAt: last.endedAt, reference: last._id };
      return window ? payments.read(window, after, limit) : [];
    });
    for await (const page of ended) {
      await keep();
      const placed = page.filter((payment) => mustHave(statement, payment));
      await payments.compareAgain(placed.map(({ _id }) => _id));
    }
    const done = await runs.find(matchedOf(statement.rail)).toArray();
    const named = records.find({ run: statement._id, payment: { $exists: true } });
    for await (const page of inBatches(named)) {
      await keep();
      const references = page.flatMap(({ payment }) => payment ?? []);
      await payments.compareAgain(references);
      await giveBack({ done, page: await payments.find(references) });
    }
  };
}

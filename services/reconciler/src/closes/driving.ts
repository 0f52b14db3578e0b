import type { Loop, Messaging } from '@pesewa/messaging';
import { WAITING_KEY } from '../database-schema.ts';
import type { UncomparedPlace, WindowPayment, WindowPayments } from '../matching/payments.ts';
import { isCaughtUp, LOOK_MS, type RunDeps, startRuns } from '../matching/runs.ts';
import { type Keep, recordId } from '../matching/store.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';

/** The dependencies of {@link startCloses}. */
export interface DrivingDeps
  extends Omit<RunDeps<CloseDocument, CloseRecord>, 'name' | 'store' | 'inOrderBy' | 'step'> {
  readonly closeStore: CloseStore;
  readonly payments: Pick<WindowPayments, 'uncompared'>;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'caughtUp'>;
}

/** How long the payments of one close are read without a break. */
const SLICE_MS = 10_000;

/**
 * Drives closes (ADR 29): whenever all payments of a close are asked about, it adds those that nothing has compared yet, slice
 * by slice, until only unclear ones are left. A close is done only after a search that began after everything the owners had
 * published was applied here. What a crash leaves is found again: nothing has compared it.
 */
export function startCloses(deps: DrivingDeps): Loop {
  const { closeStore: store, messaging } = deps;
  return startRuns({
    ...deps,
    name: 'closes',
    store,
    // Closes don't depend on one another.
    inOrderBy: '_id',
    step: async (close, keep) => {
      const { _id, claim, dueAt, after } = close;
      // Halfway through the payments nothing waits for answers: a rail that gives none must not hold back the others.
      if (after !== undefined) {
        await addUncompared(deps, close, keep);
        return store.dueAgain(close);
      }
      const asked = { run: _id, waits: { $exists: true } };
      if ((await store.records.findOne(asked, { hint: WAITING_KEY })) !== null)
        return store.dueAgain(close, LOOK_MS);
      const isComplete = await isCaughtUp(messaging);
      if (await addUncompared(deps, close, keep)) return store.dueAgain(close);
      if (!isComplete) return store.dueAgain(close, LOOK_MS);
      const counts = await store.count(_id);
      // One that was woken meanwhile stays due.
      return store.runs.updateOne({ _id, claim, ...(dueAt && { dueAt }) }, [
        { $set: { stage: 'done', counts: { $literal: counts }, finishedAt: '$$NOW' } },
        { $unset: ['running', 'dueAt'] },
      ]);
    },
  });
}

/**
 * Adds payments of a close that nothing has compared since they ended, from where the last slice has stopped; gives whether
 * there were any.
 */
async function addUncompared(
  { closeStore: { runs, records }, payments, clock }: DrivingDeps,
  close: CloseDocument,
  keep: Keep,
): Promise<boolean> {
  const mine = { _id: close._id, claim: close.claim };
  const untilMs = clock.nowMs() + SLICE_MS;
  let hasAdded = false;
  for await (const page of payments.uncompared(close, close.after)) {
    await keep();
    const ids = page.map(({ _id }) => recordId(close._id, _id));
    const unclear = await records.find({ _id: { $in: ids }, result: 'unclear' }).toArray();
    const endOf = new Map(unclear.map(({ reference, endedAt }) => [reference, endedAt.getTime()]));
    const added = page.flatMap((payment) =>
      endOf.get(payment._id) === payment.endedAt?.getTime() ? [] : recordOf(close, payment, clock.nowMs()),
    );
    if (added.length === 0) continue;
    // What was done is not any more, once something late was found.
    const begun = await runs.updateOne(mine, { $set: { stage: 'asking' }, $unset: { counts: true } });
    if (begun.matchedCount === 0) throw new Error(`${close._id}: another replica drives it now`);
    const writes = added.map(({ _id, ...replacement }) => ({
      replaceOne: { filter: { _id }, replacement, upsert: true },
    }));
    const { upsertedCount } = await records.bulkWrite(writes, { ordered: false });
    const last = added.at(-1);
    await runs.updateOne(mine, {
      ...(last && { $set: { after: placeOf(last) } }),
      ...(close.finishedAt && { $inc: { late: upsertedCount } }),
    });
    hasAdded = true;
    // After a while others that are due come first, since it may have millions.
    if (clock.nowMs() >= untilMs) return true;
  }
  if (hasAdded || close.after !== undefined) await runs.updateOne(mine, { $unset: { after: true } });
  return hasAdded;
}

function placeOf({ rail, endedAt, reference }: CloseRecord): UncomparedPlace {
  return { rail, endedAt, reference };
}

function recordOf(
  { _id: run, keepUntil }: CloseDocument,
  { _id: reference, terms, endedAt }: WindowPayment,
  nowMs: number,
): readonly CloseRecord[] {
  if (!terms || !endedAt) return [];
  const { kind, rail, merchantId, currency } = terms;
  const about = { reference, kind, rail, merchantId, currency, endedAt };
  const asked = { result: 'pending', tries: 0, waits: rail, dueAt: new Date(nowMs), keepUntil } as const;
  return [{ _id: recordId(run, reference), run, ...about, ...asked }];
}

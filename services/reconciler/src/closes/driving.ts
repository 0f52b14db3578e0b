import type { Loop, Messaging } from '@pesewa/messaging';
import { WAITING_KEY } from '../database-schema.ts';
import { createGathering } from '../matching/gathering.ts';
import type { WindowPayment, WindowPayments } from '../matching/payments.ts';
import { isCaughtUp, LOOK_MS, type RunDeps, startRuns } from '../matching/runs.ts';
import { type Keep, recordId } from '../matching/store.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';

/** The dependencies of {@link startCloses}. */
export interface DrivingDeps
  extends Omit<RunDeps<CloseDocument, CloseRecord>, 'name' | 'store' | 'inOrderBy' | 'step'> {
  readonly closeStore: CloseStore;
  readonly payments: Pick<WindowPayments, 'read' | 'uncompared'>;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit' | 'caughtUp'>;
}

/** How long the payments of one close are read without a break. */
const SLICE_MS = 10_000;

/**
 * Drives closes (ADR 29): reads the payments of each window once, and when all of them are asked about adds those that
 * nothing has compared yet, until only unclear ones are left. A close is done only after a search for them that began after
 * everything the owners had published was applied here.
 */
export function startCloses(deps: DrivingDeps): Loop {
  const { closeStore: store, payments, messaging, clock } = deps;
  const { gather, add } = createGathering<CloseDocument, CloseRecord>({
    ...deps,
    store,
    recordsOf: async (close, page) => {
      const dueAt = new Date(clock.nowMs());
      return page.flatMap((payment) => recordOf(close, payment, dueAt));
    },
    next: 'asking',
  });

  /** The next step once all records are finished: late payments are added, or the close ends if there are none. */
  async function look(close: CloseDocument, keep: Keep): Promise<void> {
    const { _id, claim, stage, dueAt } = close;
    const asked = { run: _id, waits: { $exists: true } };
    const isAsking = (await store.records.findOne(asked, { hint: WAITING_KEY })) !== null;
    if (isAsking || !(await isCaughtUp(messaging))) return store.dueAgain(close, LOOK_MS);
    let added = 0;
    for await (const uncompared of payments.uncompared(close)) {
      await keep();
      const late = await withoutUnclear(store, _id, uncompared);
      added += late.length > 0 ? await add(close, late) : 0;
    }
    if (added > 0) return store.dueAgain(close);
    const counts = await store.count(_id);
    // One that was woken meanwhile stays due.
    await store.runs.updateOne({ _id, claim, stage, ...(dueAt && { dueAt }) }, [
      { $set: { stage: 'done', counts: { $literal: counts }, finishedAt: '$$NOW' } },
      { $unset: ['running', 'dueAt'] },
    ]);
  }

  return startRuns({
    ...deps,
    name: 'closes',
    store,
    // Closes don't depend on one another.
    inOrderBy: '_id',
    step: async (close, keep) => {
      if (close.stage !== 'gathering') return look(close, keep);
      // After a while others that are due come first, since it may have millions.
      const untilMs = clock.nowMs() + SLICE_MS;
      await gather(close, close, keep, () => clock.nowMs() < untilMs);
      return store.dueAgain(close);
    },
  });
}

/** Those of these payments whose present end the close has not found unclear. */
async function withoutUnclear(
  { records }: CloseStore,
  run: string,
  payments: readonly WindowPayment[],
): Promise<readonly WindowPayment[]> {
  const ids = payments.map(({ _id }) => recordId(run, _id));
  const unclear = await records.find({ _id: { $in: ids }, result: 'unclear' }).toArray();
  const endOf = new Map(unclear.map(({ reference, endedAt }) => [reference, endedAt.getTime()]));
  return payments.filter(({ _id, endedAt }) => endOf.get(_id) !== endedAt?.getTime());
}

function recordOf(
  { _id: run, keepUntil }: CloseDocument,
  { _id: reference, terms, endedAt }: WindowPayment,
  dueAt: Date,
): readonly CloseRecord[] {
  if (!terms || !endedAt) return [];
  const { kind, rail, merchantId, currency } = terms;
  const about = { reference, kind, rail, merchantId, currency, endedAt };
  const _id = recordId(run, reference);
  return [{ _id, run, ...about, result: 'pending', tries: 0, waits: rail, dueAt, keepUntil }];
}

import type { Loop, Messaging } from '@pesewa/messaging';
import { RESULT_KEY } from '../database-schema.ts';
import { createGathering, type Gathering } from '../matching/gathering.ts';
import type { WindowPayment, WindowPayments } from '../matching/payments.ts';
import { type Keep, type RunDeps, startRuns } from '../matching/runs.ts';
import { recordId } from '../matching/store.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';

/** The dependencies of {@link startCloses}. */
export interface DrivingDeps
  extends Omit<RunDeps<CloseDocument, CloseRecord>, 'name' | 'store' | 'inOrderBy' | 'step'> {
  readonly closeStore: CloseStore;
  readonly payments: Pick<WindowPayments, 'read' | 'uncompared'>;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit' | 'caughtUp'>;
  /** Called when payments to be asked about were found. */
  readonly gathered: () => void;
}

/** How long the payments of one close are read without a break. */
const SLICE_MS = 10_000;
/** The pause between two checks whether all payments of a close are known. */
const LOOK_MS = 1_000;
/** How long a step waits until the owners' published events are applied here; then it checks again. */
const CAUGHT_UP_TIMEOUT_MS = 5_000;

/**
 * Drives closes (ADR 29): reads the payments of each window once, and when all of them are asked about adds those that
 * nothing has compared yet, until only unclear ones are left, about which it asks once more when it is woken. A close is done only after a search for them that began
 * after everything the owners had published was applied here.
 */
export function startCloses(deps: DrivingDeps): Loop {
  const { closeStore: store, clock } = deps;
  const gathering = createGathering<CloseDocument, CloseRecord>({
    ...deps,
    store,
    recordsOf: async (close, payments) => {
      const dueAt = new Date(clock.nowMs());
      return payments.flatMap((payment) => recordOf(close, payment, dueAt));
    },
    next: 'asking',
  });
  return startRuns({
    ...deps,
    name: 'closes',
    store,
    // None has the last word over another.
    inOrderBy: '_id',
    step: (close, keep) =>
      close.stage === 'gathering'
        ? gatherSlice(deps, gathering, close, keep)
        : look(deps, gathering, close, keep),
  });
}

/** Reads payments for a while; then the close goes behind others that are due, since it may have millions. */
async function gatherSlice(
  { closeStore: store, clock }: DrivingDeps,
  { gather }: Gathering<CloseDocument>,
  close: CloseDocument,
  keep: Keep,
): Promise<void> {
  const untilMs = clock.nowMs() + SLICE_MS;
  await gather(close, close, keep, () => clock.nowMs() < untilMs);
  const mine = { _id: close._id, ...(close.claim !== undefined && { claim: close.claim }) };
  await store.runs.updateOne({ ...mine, stage: 'gathering' }, [{ $set: { dueAt: '$$NOW' } }]);
}

/** The next step once all records are finished: late payments are added, or the close ends if there are none. */
async function look(
  { closeStore: store, payments, messaging, clock, gathered }: DrivingDeps,
  { add }: Gathering<CloseDocument>,
  close: CloseDocument,
  keep: Keep,
): Promise<void> {
  const { _id, claim } = close;
  const mine = { _id, ...(claim !== undefined && { claim }) };
  const unfinished = { run: _id, result: { $in: ['pending', 'unclear'] as const }, waits: { $exists: true } };
  const isAsking = (await store.records.findOne(unfinished, { hint: RESULT_KEY })) !== null;
  if (isAsking || !(await messaging.caughtUp(['payouts', 'collections'], CAUGHT_UP_TIMEOUT_MS))) {
    await store.runs.updateOne(mine, [{ $set: { dueAt: { $add: ['$$NOW', LOOK_MS] } } }]);
    return;
  }
  let fresh = 0;
  for await (const late of payments.uncompared(close)) {
    await keep();
    const unclear = await unclearAmong(store, _id, late);
    const again = unclear.filter(({ askedAt }) => isBefore(askedAt, close.wokenAt)).map((one) => one._id);
    if (again.length > 0) await store.askAgain(again, new Date(clock.nowMs()));
    const known = new Set(unclear.map(({ reference }) => reference));
    const others = late.filter(({ _id: reference }) => !known.has(reference));
    fresh += again.length + (others.length > 0 ? await add(close, others) : 0);
  }
  if (fresh > 0) {
    gathered();
    await store.runs.updateOne(mine, [{ $set: { dueAt: '$$NOW' } }]);
    return;
  }
  const counts = await store.count(_id);
  await store.runs.updateOne(mine, [
    { $set: { stage: 'done', counts: { $literal: counts }, finishedAt: '$$NOW' } },
    { $unset: ['running', 'rereading', 'dueAt'] },
  ]);
}

/** The records of those of these payments whose present end was found unclear in this close. */
async function unclearAmong(
  { records }: CloseStore,
  run: string,
  payments: readonly WindowPayment[],
): Promise<readonly CloseRecord[]> {
  const endOf = new Map(payments.map(({ _id, endedAt }) => [recordId(run, _id), endedAt?.getTime()]));
  const unclear = await records.find({ _id: { $in: [...endOf.keys()] }, result: 'unclear' }).toArray();
  return unclear.filter(({ _id, endedAt }) => endOf.get(_id) === endedAt.getTime());
}

/** Whether a rail was last asked before its close was woken; a close that never was asks about nothing again. */
function isBefore(askedAt: Date | undefined, wokenAt: Date | undefined): boolean {
  return wokenAt !== undefined && (askedAt === undefined || askedAt < wokenAt);
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

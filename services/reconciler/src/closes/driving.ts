import type { Loop, Messaging } from '@pesewa/messaging';
import { sideOf } from '../domain/close.ts';
import { createGathering, type GatheringDeps } from '../matching/gathering.ts';
import type { WindowPayment } from '../matching/payments.ts';
import { type Keep, type RunDeps, startRuns } from '../matching/runs.ts';
import { recordId } from '../matching/store.ts';
import type { ByStatement } from './by-statement.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';

/** The dependencies of {@link startCloses}. */
export interface DrivingDeps extends Omit<RunDeps<CloseDocument, CloseRecord>, 'name' | 'store' | 'step'> {
  readonly closeStore: CloseStore;
  readonly byStatement: ByStatement;
  readonly payments: GatheringDeps<CloseDocument, CloseRecord>['payments'];
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit' | 'caughtUp'>;
  /** Called when payments to be asked about were found. */
  readonly gathered: () => void;
}

/** The pause between two checks whether all payments of a close are known. */
const LOOK_MS = 1_000;
/** How long a step waits until the owners' published events are applied here; then it checks again. */
const CAUGHT_UP_TIMEOUT_MS = 5_000;

/**
 * Drives closes (ADR 29): reads the payments of each window, and once all of them are asked about reads it again, until nothing is
 * new, so that ends reported late are included. A close is done only after a reading that brought nothing new and began after
 * everything the owners had published was applied here.
 */
export function startCloses(deps: DrivingDeps): Loop {
  const { closeStore: store, clock } = deps;
  const gather = createGathering<CloseDocument, CloseRecord>({
    ...deps,
    store,
    recordsOf: async (close, payments) => {
      const dueAt = new Date(clock.nowMs());
      return payments.flatMap((payment) => recordOf(deps, close, payment, dueAt));
    },
    next: 'asking',
  });
  return startRuns({
    ...deps,
    name: 'closes',
    store,
    step: (close, keep) =>
      close.stage === 'gathering' ? gather(close, close, keep) : look(deps, close, keep),
  });
}

/** The next step once all records are finished: read once more, or end if that brought nothing new. */
async function look(
  { closeStore: store, byStatement, messaging }: DrivingDeps,
  close: CloseDocument,
  keep: Keep,
): Promise<void> {
  await byStatement.settle(close, keep);
  const { _id, claim, added, isLevel } = close;
  const mine = { _id, ...(claim !== undefined && { claim }) };
  const isPending = (await store.records.findOne({ run: _id, result: 'pending' })) !== null;
  if (!isPending && added === 0 && isLevel === true) {
    const counts = await store.count(_id);
    await store.runs.updateOne(mine, [
      { $set: { stage: 'done', counts: { $literal: counts }, finishedAt: '$$NOW' } },
      { $unset: ['running', 'dueAt', 'isLevel'] },
    ]);
  } else if (!isPending && (await messaging.caughtUp(['payouts', 'collections'], CAUGHT_UP_TIMEOUT_MS))) {
    const reading = { stage: 'gathering', added: 0, isLevel: true } as const;
    await store.runs.updateOne(mine, { $set: reading, $unset: { settledTo: true } });
  } else {
    await store.runs.updateOne(mine, [{ $set: { dueAt: { $add: ['$$NOW', LOOK_MS] } } }]);
  }
}

/** A payment without a break waits for the statement of its rail, if that sends any; others are asked about at once. */
function recordOf(
  { byStatement }: DrivingDeps,
  { _id: run, keepUntil }: CloseDocument,
  { _id: reference, terms, endedAt, status, received, charged, breaks = [] }: WindowPayment,
  dueAt: Date,
): readonly CloseRecord[] {
  if (!terms || !endedAt) return [];
  const { kind, rail, merchantId, currency } = terms;
  const about = { reference, kind, rail, merchantId, currency, endedAt };
  const source =
    byStatement.sendsStatements(rail) && breaks.length === 0
      ? { ours: sideOf({ status, received: received ?? null, charged: charged ?? null }, terms) }
      : { waits: rail, dueAt };
  return [
    { _id: recordId(run, reference), run, ...about, result: 'pending', tries: 0, ...source, keepUntil },
  ];
}

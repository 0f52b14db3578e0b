import type { Loop, Messaging } from '@pesewa/messaging';
import { createGathering, type GatheringDeps } from '../matching/gathering.ts';
import type { WindowPayment } from '../matching/payments.ts';
import { type RunDeps, startRuns } from '../matching/runs.ts';
import { recordId } from '../matching/store.ts';
import type { CloseDocument, CloseRecord, CloseStore } from './store.ts';

/** The dependencies of {@link startCloses}. */
export interface DrivingDeps extends Omit<RunDeps<CloseDocument, CloseRecord>, 'name' | 'store' | 'step'> {
  readonly closeStore: CloseStore;
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
      return payments.flatMap((payment) => recordOf(close, payment, dueAt));
    },
    next: 'asking',
  });
  return startRuns({
    ...deps,
    name: 'closes',
    store,
    step: (close, keep) => (close.stage === 'gathering' ? gather(close, close, keep) : look(deps, close)),
  });
}

/** The next step once all records are finished: read once more, or end if that brought nothing new. */
async function look({ closeStore: store, messaging }: DrivingDeps, close: CloseDocument): Promise<void> {
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
    await store.runs.updateOne(mine, { $set: { stage: 'gathering', added: 0, isLevel: true } });
  } else {
    await store.runs.updateOne(mine, [{ $set: { dueAt: { $add: ['$$NOW', LOOK_MS] } } }]);
  }
}

function recordOf(
  { _id: run, keepUntil }: CloseDocument,
  { _id: reference, terms, endedAt }: WindowPayment,
  dueAt: Date,
): readonly CloseRecord[] {
  if (!terms || !endedAt) return [];
  const { kind, rail, merchantId, currency } = terms;
  const about = { reference, kind, rail, merchantId, currency, endedAt };
  const open = { result: 'pending', waits: rail, tries: 0, dueAt } as const;
  return [{ _id: recordId(run, reference), run, ...about, ...open, keepUntil }];
}

import type { Clock, Ids } from '@pesewa/kernel';
import { type Loop, type Messaging, startClaimLoop, type Transaction } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { PollDocument } from '../poll-document.ts';
import {
  type CloseDocument,
  type CloseRecord,
  type CloseStore,
  type GatheringCursor,
  recordId,
} from './store.ts';

/** The dependencies of gathering. */
export interface GatheringDeps {
  readonly closeStore: CloseStore;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly pauseMs: number;
  /** Called when payments to be asked about were found. */
  readonly gathered: () => void;
}

/** A page of a window that was read. */
interface Page {
  readonly close: CloseDocument;
  readonly claim: string;
  readonly payments: readonly PollDocument[];
}

const PAGE = 500;
const STEP_TIMEOUT_MS = 20_000;
const LEASE_MS = 40_000;
/** The pause between two checks whether all payments of a close are known. */
const LOOK_MS = 1_000;
/** How long a step waits until the owners' published events are applied here; then it checks again. */
const CAUGHT_UP_TIMEOUT_MS = 5_000;

/**
 * Drives closes (ADR 29): reads the payments of each window in pages, and once all of them are asked about reads it
 * again, until nothing is new, so that ends reported late are included. A close is done only after a reading that
 * brought nothing new and began after everything the owners had published was applied here.
 *
 * One replica at a time drives a close, by its lease; the next one continues after the last page.
 */
export function startGathering(deps: GatheringDeps): Loop {
  const { closeStore, clock, ids, logger, pauseMs } = deps;
  // One at a time and retried in place: a conflicting one waits for the other.
  const pages = deps.messaging.groupCommit<Page, boolean>(
    'reconciler.close-page',
    (items, transaction) => Promise.all(items.map((page) => takePage(deps, page, transaction))),
    { itemsMax: 1 },
  );

  async function gather(close: CloseDocument, claim: string): Promise<void> {
    let current = close;
    const untilMs = clock.nowMs() + STEP_TIMEOUT_MS / 2;
    for (;;) {
      const payments = await closeStore.readWindow(current, current.after, PAGE);
      if (!(await pages.submit({ close: current, claim, payments }))) return;
      if (payments.length < PAGE) return;
      if (clock.nowMs() > untilMs) return giveBack(closeStore, current, claim);
      const after = lastOf(payments);
      current = { ...current, ...(after && { after }) };
    }
  }

  return startClaimLoop<CloseDocument>({
    name: 'closes',
    collection: closeStore.closes,
    open: { running: true },
    leaseMs: LEASE_MS,
    workTimeoutMs: STEP_TIMEOUT_MS,
    batchMax: 1,
    concurrencyMax: 4,
    pauseMs,
    clock,
    ids,
    logger,
    work: async (close, claim) => {
      if (close.stage === 'gathering') return gather(close, claim);
      await lookForPending(deps, close, claim);
    },
  });
}

/** Stores the records of a page and moves on, if the close is still this replica's; gives whether it is. */
async function takePage(
  { closeStore, clock, gathered }: GatheringDeps,
  { close, claim, payments }: Page,
  transaction: Transaction,
): Promise<boolean> {
  const { session } = transaction;
  const { closes, records } = closeStore;
  const held = await closes.findOne({ _id: close._id, claim }, { session });
  if (!held) return false;
  const now = new Date(clock.nowMs());
  const found = payments.flatMap((payment) => recordOf(held, payment, now));
  const upserts = found.map(({ _id, ...record }) => ({
    updateOne: { filter: { _id }, update: { $setOnInsert: record }, upsert: true },
  }));
  const written = upserts.length > 0 ? await records.bulkWrite(upserts, { session, ordered: false }) : null;
  const fresh = written?.upsertedCount ?? 0;
  const added = held.added + fresh;
  const late = held.finishedAt && fresh > 0 ? { late: (held.late ?? 0) + fresh } : {};
  const after = lastOf(payments);
  const isLast = payments.length < PAGE;
  await closes.updateOne(
    { _id: close._id, claim },
    isLast
      ? { $set: { added, ...late, stage: 'asking', dueAt: now }, $unset: { after: true, claim: true } }
      : { $set: { added, ...late, ...(after && { after }) } },
    { session },
  );
  transaction.afterCommit(gathered);
  return true;
}

/** The next step once all records are finished: read once more, or end if that brought nothing new. */
async function lookForPending(
  { closeStore, messaging }: GatheringDeps,
  close: CloseDocument,
  claim: string,
): Promise<void> {
  const { closes, records } = closeStore;
  const mine = { _id: close._id, claim };
  const isPending = (await records.findOne({ close: close._id, result: 'pending' })) !== null;
  if (!isPending && close.added === 0 && close.isLevel === true) {
    const counts = await closeStore.countRecords(close._id);
    await closes.updateOne(mine, [
      { $set: { stage: 'done', ...(counts && { counts }), finishedAt: '$$NOW' } },
      { $unset: ['running', 'dueAt', 'claim', 'isLevel'] },
    ]);
  } else if (!isPending && (await messaging.caughtUp(['payouts', 'collections'], CAUGHT_UP_TIMEOUT_MS))) {
    await closes.updateOne(mine, [
      { $set: { stage: 'gathering', added: 0, isLevel: true, dueAt: '$$NOW' } },
      { $unset: 'claim' },
    ]);
  } else {
    const dueAt = { $add: ['$$NOW', LOOK_MS] };
    await closes.updateOne(mine, [{ $set: { dueAt } }, { $unset: 'claim' }]);
  }
}

/** Returns the lease, so that the next replica can continue at once. */
async function giveBack({ closes }: CloseStore, { _id }: CloseDocument, claim: string): Promise<void> {
  await closes.updateOne({ _id, claim }, [{ $set: { dueAt: '$$NOW' } }, { $unset: 'claim' }]);
}

function lastOf(payments: readonly PollDocument[]): GatheringCursor | undefined {
  const last = payments.at(-1);
  return last?.endedAt && { endedAt: last.endedAt, reference: last._id };
}

function recordOf(close: CloseDocument, payment: PollDocument, now: Date): readonly CloseRecord[] {
  const { terms, endedAt, _id: reference } = payment;
  if (!terms || !endedAt || (close.rail !== null && close.rail !== terms.rail)) return [];
  const { kind, rail, merchantId, currency } = terms;
  return [
    {
      _id: recordId(close._id, reference),
      close: close._id,
      reference,
      kind,
      rail,
      merchantId,
      currency,
      endedAt,
      result: 'pending',
      waits: rail,
      tries: 0,
      dueAt: now,
      keepUntil: close.keepUntil,
    },
  ];
}

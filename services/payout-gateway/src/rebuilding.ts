import { topics } from '@pesewa/contracts';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { CLOCK_SKEW_MAX_MS, type Messaging } from '@pesewa/messaging';
import { paymentId } from '@pesewa/payments';
import type { Health, Logger } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import { keyOf } from './acceptance.ts';
import { type OwnEvent, type RebuiltPayout, rebuildPayout } from './domain/rebuilt-payout.ts';
import type { PayoutStore } from './store.ts';

/**
 * Brings back payouts that a restored database has forgotten, from this service's own published events. Each payout was
 * committed before it was published, so one that is in the topic and not in the database was forgotten (ADR 45).
 */
export interface Rebuilding extends AsyncDisposable {
  /** Whether every published payout is in the database, as far as that must be known; once true, it stays true. */
  readonly isComplete: () => boolean;
  /** Waits some seconds until our own events are read; rejects if it takes longer. */
  readonly untilComplete: () => Promise<void>;
}

/** The dependencies of {@link Rebuilding}. */
export interface RebuildingDeps {
  readonly messaging: Pick<Messaging, 'since' | 'inTransaction'>;
  readonly store: Pick<PayoutStore, 'newestAcceptedMs' | 'findMissing' | 'findUsedIds' | 'insert'>;
  readonly completenessMark: CompletenessMark;
  readonly health: Pick<Health, 'addDetail'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'debug' | 'warn' | 'error'>;
}

/**
 * The clock by which a payout was accepted, the database's and Kafka's may each be wrong, and a transaction takes time.
 */
const OVERLAP_MS = 3 * CLOCK_SKEW_MAX_MS + 15_000;
/** A database marked more recently than this is not a backup: restoring one takes longer. */
const BACKUP_AGE_MIN_MS = 30_000;
const LOOK_PAUSE_MS = 1_000;
const WAIT_MS = 5_000;
const PAYOUTS_PER_TRANSACTION = 200;

/**
 * Starts {@link Rebuilding}, which goes on while Kafka or the database does not answer. A database that a process knew
 * to be complete a moment ago is no backup: it counts as complete without Kafka, and our events are read all the same.
 */
export async function startRebuilding(deps: RebuildingDeps): Promise<Rebuilding> {
  const { clock, logger, store, completenessMark } = deps;
  const closing = new AbortController();
  const done = Promise.withResolvers<void>();
  const isInUse = await completenessMark.isYounger(BACKUP_AGE_MIN_MS);
  // Read before anything new is accepted: a payout accepted while Kafka is away must not hide those that were forgotten
  // before it.
  const newestMs = async () => (await store.newestAcceptedMs()) ?? OVERLAP_MS;
  let sinceMs = isInUse ? (await newestMs()) - OVERLAP_MS : undefined;
  let isRead = false;
  const isComplete = () => isRead || isInUse;
  deps.health.addDetail('acceptance', () =>
    isComplete()
      ? undefined
      : 'no payout is accepted before our own events show which ones the database has forgotten',
  );
  const readOwnEvents = async () => {
    sinceMs ??= (await newestMs()) - OVERLAP_MS;
    await rebuildMissing(deps, sinceMs);
    isRead = true;
    done.resolve();
  };
  const mark = () =>
    completenessMark.set().catch((error: unknown) => {
      logger.debug({ err: error }, 'the database could not be marked as complete: tried again in a second');
    });
  const running = (async () => {
    for (let looks = 1; !closing.signal.aborted; looks += 1) {
      if (!isRead)
        await readOwnEvents().catch((error: unknown) => {
          const level = looks === 1 ? 'warn' : 'debug';
          logger[level]({ err: error }, 'what the database has forgotten, if anything, is not known yet');
        });
      if (isComplete()) await mark();
      await clock.sleep(LOOK_PAUSE_MS, closing.signal);
    }
  })();
  return {
    isComplete,
    untilComplete: () => withDeadline(done.promise, WAIT_MS, clock),
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
}

async function rebuildMissing(deps: RebuildingDeps, sinceMs: number): Promise<void> {
  for (let partition = 0; partition < topics.payouts.partitions; partition += 1)
    await rebuildPartition(deps, partition, sinceMs);
}

async function rebuildPartition(deps: RebuildingDeps, partition: number, sinceMs: number): Promise<void> {
  const { messaging, store, clock, logger } = deps;
  const forgotten = new Map<string, OwnEvent[]>();
  for await (const events of messaging.since('payouts', partition, sinceMs)) {
    const missing = await store.findMissing(new Set(events.map(({ payload }) => payload.reference)));
    for (const event of events) {
      const { reference } = event.payload;
      if (missing.has(reference)) forgotten.set(reference, [...(forgotten.get(reference) ?? []), event]);
    }
  }
  const payouts: RebuiltPayout[] = [];
  for (const [reference, events] of forgotten) {
    const payout = rebuildPayout(events, clock.nowMs());
    if (payout) payouts.push(payout);
    else
      logger.error({ reference }, 'a payout without a record was accepted before what its topic still has');
  }
  for (let first = 0; first < payouts.length; first += PAYOUTS_PER_TRANSACTION)
    await insertRebuilt(deps, payouts.slice(first, first + PAYOUTS_PER_TRANSACTION));
}

/** Writes the payouts that the database still lacks; another replica may be doing the same. */
async function insertRebuilt(
  { messaging, store, logger }: RebuildingDeps,
  payouts: readonly RebuiltPayout[],
): Promise<void> {
  const { back, others } = await messaging.inTransaction(async ({ session }) => {
    const missing = await store.findMissing(new Set(payouts.map(({ reference }) => reference)), session);
    const lacking = payouts.filter(({ reference }) => missing.has(reference));
    const taken = new Set(await store.findUsedIds(lacking.map(keyOf), session));
    // If two have the same reference of one merchant, the first one in the topic keeps it, as when both were accepted.
    const { back = [], others = [] } = Object.groupBy(lacking, (payout) => {
      const id = paymentId(keyOf(payout));
      if (taken.has(id)) return 'others';
      taken.add(id);
      return 'back';
    });
    if (back.length > 0) await store.insert(back, session);
    return { back, others };
  });
  for (const { reference } of others)
    logger.error(
      { reference },
      'a payout has no record, and another one has the reference that its merchant gave it',
    );
  if (back.length > 0)
    logger.warn(
      { payouts: back.length },
      'the database was restored: payouts that it had forgotten are back, by their own events',
    );
}

/** When a process last knew that the database has all published payouts, by the database's own clock. */
export type CompletenessMark = ReturnType<typeof completenessMarkOf>;

/** The {@link CompletenessMark} of a database. */
export function completenessMarkOf(db: Db) {
  const marks = db.collection<{ readonly _id: string; readonly at: Date }>('marks');
  return {
    set: async (): Promise<void> => {
      await marks.updateOne({ _id: 'complete' }, { $currentDate: { at: true } }, { upsert: true });
    },
    /** Whether it was set within this time; in an older backup it was not. */
    isYounger: async (thanMs: number): Promise<boolean> => {
      const isRecent = { $gte: ['$at', { $subtract: ['$$NOW', thanMs] }] };
      return (await marks.findOne({ _id: 'complete', $expr: isRecent })) !== null;
    },
  };
}

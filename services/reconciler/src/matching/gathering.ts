import type { Messaging, Transaction } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, Filter, UpdateFilter } from 'mongodb';
import { commitEach } from '../batches.ts';
import type { Window, WindowPayment, WindowPayments } from './payments.ts';
import type { Keep } from './runs.ts';
import type { MatchRecord, MatchRun, MatchStore } from './store.ts';

/** How a run gets the records of its payments, each page in one transaction. */
export interface Gathering<Run extends MatchRun> {
  /**
   * Reads the payments of the run's window page by page, with the place to continue; false if the run is another
   * replica's meanwhile, or was dropped. It stops early where `goesOn` says no.
   */
  readonly gather: (run: Run, window: Window, keep: Keep, goesOn?: () => boolean) => Promise<boolean>;
  /** Adds a page of payments, each to be compared anew if it is known; gives how many there are. */
  readonly add: (run: Run, payments: readonly WindowPayment[]) => Promise<number>;
}

/** The dependencies of {@link createGathering}. */
export interface GatheringDeps<Run extends MatchRun, Record extends MatchRecord> {
  readonly store: MatchStore<Run, Record>;
  readonly payments: Pick<WindowPayments, 'read'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** The records that payments of a page have in the run, in its transaction; none for those that need none. */
  readonly recordsOf: (
    run: Run,
    payments: readonly WindowPayment[],
    transaction: Transaction,
  ) => Promise<readonly Record[]>;
  /** The stage after the last page. */
  readonly next: Run['stage'];
  /** Called when records were stored. */
  readonly gathered?: () => void;
}

/** A page of payments of a run. */
interface Page<Run extends MatchRun> {
  readonly run: Run;
  readonly payments: readonly WindowPayment[];
  /** Whether they belong to no reading: what is known of them counts no more. */
  readonly isAnew: boolean;
  /** Where the reading continues, or the stage behind the last page; neither if the page is of no reading. */
  readonly next: Pick<MatchRun, 'after'> & Partial<Pick<MatchRun, 'stage'>>;
}

const PAGE = 500;

/** Builds {@link Gathering} for the runs of a source. */
export function createGathering<Run extends MatchRun, Record extends MatchRecord>(
  deps: GatheringDeps<Run, Record>,
): Gathering<Run> {
  const take = commitEach(deps.messaging, 'reconciler.match-page', (page: Page<Run>, transaction) =>
    takePage(deps, page, transaction),
  );
  return {
    gather: async (run, window, keep, goesOn = () => true) => {
      let { after } = run;
      let fresh: number | null;
      do {
        await keep();
        const payments = await deps.payments.read(window, after, PAGE);
        const last = payments.length < PAGE ? undefined : payments.at(-1);
        after = last?.endedAt && { endedAt: last.endedAt, reference: last._id };
        fresh = await take({ run, payments, isAnew: false, next: after ? { after } : { stage: deps.next } });
      } while (fresh !== null && after && goesOn());
      return fresh !== null;
    },
    add: async (run, payments) => (await take({ run, payments, isAnew: true, next: {} })) ?? 0,
  };
}

/** Stores the records of a page, if the run is still this replica's; gives how many are new, or null if it is not. */
async function takePage<Run extends MatchRun, Record extends MatchRecord>(
  { store, recordsOf, gathered }: GatheringDeps<Run, Record>,
  { run, payments, isAnew, next }: Page<Run>,
  transaction: Transaction,
): Promise<number | null> {
  const { session } = transaction;
  const { _id, claim, stage } = run;
  const mine = { _id, claim, stage } as Filter<Run>;
  const held = await store.runs.findOne(mine, { session });
  if (!held) return null;
  const records = await recordsOf(run, payments, transaction);
  const writes = records.map(({ _id: id, ...record }): AnyBulkWriteOperation<Record> => {
    const filter = { _id: id } as Filter<Record>;
    if (isAnew) return { replaceOne: { filter, replacement: record, upsert: true } };
    const update = { $setOnInsert: record } as unknown as UpdateFilter<Record>;
    return { updateOne: { filter, update, upsert: true } };
  });
  const written =
    writes.length > 0 ? await store.records.bulkWrite(writes, { session, ordered: false }) : null;
  const added = written?.upsertedCount ?? 0;
  const fresh = isAnew ? records.length : added;
  const isLate = held.finishedAt !== undefined && fresh > 0;
  const set = { ...next, ...(isLate && { late: (held.late ?? 0) + added }) };
  // What was done is not any more, once something late was found.
  const gone = { ...(next.stage && { after: true }), ...(isLate && { rereading: true, counts: true }) };
  const update = {
    ...(Object.keys(set).length > 0 && { $set: set }),
    ...(Object.keys(gone).length > 0 && { $unset: gone }),
  };
  if (Object.keys(update).length > 0)
    await store.runs.updateOne(mine, update as unknown as UpdateFilter<Run>, { session });
  if (gathered && fresh > 0) transaction.afterCommit(gathered);
  return fresh;
}

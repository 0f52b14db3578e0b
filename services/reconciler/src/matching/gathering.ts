import type { Messaging, Transaction } from '@pesewa/messaging';
import type { AnyBulkWriteOperation, Filter, UpdateFilter } from 'mongodb';
import { commitEach } from '../batches.ts';
import type { Window, WindowPayment, WindowPayments } from './payments.ts';
import type { Keep, MatchRecord, MatchRun, MatchStore } from './store.ts';

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
  /** The stage after the last page, and after payments were added. */
  readonly next: Run['stage'];
}

/** A page of payments of a run. */
interface Page<Run extends MatchRun> {
  readonly run: Run;
  readonly payments: readonly WindowPayment[];
  /** Where the reading continues, or the stage behind the last page; absent if the page is of no reading. */
  readonly next?: Pick<MatchRun, 'after'> & Partial<Pick<MatchRun, 'stage'>>;
}

const PAGE = 500;

/** Builds how a run gets the records of its payments, each page in one transaction. */
export function createGathering<Run extends MatchRun, Record extends MatchRecord>(
  deps: GatheringDeps<Run, Record>,
) {
  const take = commitEach(deps.messaging, 'reconciler.match-page', (page: Page<Run>, transaction) =>
    takePage(deps, page, transaction),
  );
  return {
    /**
     * Reads the payments of the run's window page by page, with the place to continue; false if the run is another
     * replica's meanwhile, or was dropped. It stops early where `goesOn` says no.
     */
    gather: async (run: Run, window: Window, keep: Keep, goesOn = () => true): Promise<boolean> => {
      let { after } = run;
      let stored: number | null;
      do {
        await keep();
        const payments = await deps.payments.read(window, after, PAGE);
        const last = payments.length < PAGE ? undefined : payments.at(-1);
        after = last?.endedAt && { endedAt: last.endedAt, reference: last._id };
        stored = await take({ run, payments, next: after ? { after } : { stage: deps.next } });
      } while (stored !== null && after && goesOn());
      return stored !== null;
    },
    /** Adds a page of payments, each to be compared anew if it is known; gives how many there are. */
    add: async (run: Run, payments: readonly WindowPayment[]): Promise<number> =>
      (await take({ run, payments })) ?? 0,
  };
}

/** Stores the records of a page, if the run is still this replica's; gives how many there are, or null if it is not. */
async function takePage<Run extends MatchRun, Record extends MatchRecord>(
  { store, recordsOf, next: stage }: GatheringDeps<Run, Record>,
  { run, payments, next }: Page<Run>,
  transaction: Transaction,
): Promise<number | null> {
  const { session } = transaction;
  const mine = { _id: run._id, claim: run.claim } as Filter<Run>;
  const held = await store.runs.findOne(mine, { session });
  if (!held || (next && held.stage !== run.stage)) return null;
  const records = await recordsOf(run, payments, transaction);
  const writes = records.map(({ _id: id, ...replacement }): AnyBulkWriteOperation<Record> => {
    return { replaceOne: { filter: { _id: id } as Filter<Record>, replacement, upsert: true } };
  });
  const { upsertedCount = 0 } =
    writes.length > 0 ? await store.records.bulkWrite(writes, { session, ordered: false }) : {};
  // What was done is not any more, once something late was found.
  const isLate = held.finishedAt !== undefined && records.length > 0;
  const moved = next ?? (records.length > 0 ? { stage } : {});
  const update = {
    $set: { ...moved, ...(isLate && { late: (held.late ?? 0) + upsertedCount }) },
    $unset: { ...(moved.stage && { after: true }), ...(isLate && { counts: true }) },
  };
  await store.runs.updateOne(mine, update as unknown as UpdateFilter<Run>, { session });
  return records.length;
}

import type { Messaging, Transaction } from '@pesewa/messaging';
import type { Filter, UpdateFilter } from 'mongodb';
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
  /** Adds a page of payments, which may be known; gives how many are new. */
  readonly add: (run: Run, payments: readonly WindowPayment[]) => Promise<number>;
}

/** The dependencies of {@link createGathering}. */
export interface GatheringDeps<Run extends MatchRun, Record extends MatchRecord> {
  readonly store: MatchStore<Run, Record>;
  readonly payments: Pick<WindowPayments, 'read'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** The records that payments of a page have in the run; none for those that need none. */
  readonly recordsOf: (run: Run, payments: readonly WindowPayment[]) => Promise<readonly Record[]>;
  /** The stage after the last page. */
  readonly next: Run['stage'];
  /** Called when records were stored. */
  readonly gathered?: () => void;
}

/** A page of payments with their records. */
interface Page<Run extends MatchRun, Record extends MatchRecord> {
  readonly run: Run;
  readonly records: readonly Record[];
  /** Where the reading continues, or the stage behind the last page; neither if the page is of no reading. */
  readonly next: Pick<MatchRun, 'after'> & Partial<Pick<MatchRun, 'stage'>>;
}

const PAGE = 500;

/** Builds {@link Gathering} for the runs of a source. */
export function createGathering<Run extends MatchRun, Record extends MatchRecord>(
  deps: GatheringDeps<Run, Record>,
): Gathering<Run> {
  const take = commitEach(deps.messaging, 'reconciler.match-page', (page: Page<Run, Record>, transaction) =>
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
        const records = await deps.recordsOf(run, payments);
        fresh = await take({ run, records, next: after ? { after } : { stage: deps.next } });
      } while (fresh !== null && after && goesOn());
      return fresh !== null;
    },
    add: async (run, payments) =>
      (await take({ run, records: await deps.recordsOf(run, payments), next: {} })) ?? 0,
  };
}

/** Stores the records of a page, if the run is still this replica's; gives how many are new, or null if it is not. */
async function takePage<Run extends MatchRun, Record extends MatchRecord>(
  { store, gathered }: GatheringDeps<Run, Record>,
  { run: { _id, claim, stage }, records, next }: Page<Run, Record>,
  transaction: Transaction,
): Promise<number | null> {
  const { session } = transaction;
  const mine = { _id, claim, stage } as Filter<Run>;
  const held = await store.runs.findOne(mine, { session });
  if (!held) return null;
  // What is known of a payment already stays.
  const upserts = records.map(({ _id: id, ...record }) => ({
    updateOne: {
      filter: { _id: id } as Filter<Record>,
      update: { $setOnInsert: record } as unknown as UpdateFilter<Record>,
      upsert: true,
    },
  }));
  const written =
    upserts.length > 0 ? await store.records.bulkWrite(upserts, { session, ordered: false }) : null;
  const fresh = written?.upsertedCount ?? 0;
  const isLate = held.finishedAt !== undefined && fresh > 0;
  const set = { ...next, ...(isLate && { late: (held.late ?? 0) + fresh }) };
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

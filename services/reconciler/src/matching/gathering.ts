import type { Messaging, Transaction } from '@pesewa/messaging';
import type { Filter, UpdateFilter } from 'mongodb';
import { commitEach } from '../batches.ts';
import type { Window, WindowCursor, WindowPayment, WindowPayments } from './payments.ts';
import type { Keep } from './runs.ts';
import type { MatchRecord, MatchRun, MatchStore } from './store.ts';

/**
 * Reads the payments of a run's window page by page, each page's records in one transaction with the place to continue; false if the
 * run is another replica's meanwhile, or was dropped. It stops early where `goesOn` says no.
 */
export type Gathering<Run extends MatchRun> = (
  run: Run,
  window: Window,
  keep: Keep,
  goesOn?: () => boolean,
) => Promise<boolean>;

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

/** A page of a window with its records. */
interface Page<Run extends MatchRun, Record extends MatchRecord> {
  readonly run: Run;
  readonly records: readonly Record[];
  /** Undefined behind the last page. */
  readonly after: WindowCursor | undefined;
}

const PAGE = 500;

/** Builds {@link Gathering} for the runs of a source. */
export function createGathering<Run extends MatchRun, Record extends MatchRecord>(
  deps: GatheringDeps<Run, Record>,
): Gathering<Run> {
  const take = commitEach(deps.messaging, 'reconciler.match-page', (page: Page<Run, Record>, transaction) =>
    takePage(deps, page, transaction),
  );
  return async (run, window, keep, goesOn = () => true) => {
    let { after } = run;
    let isTaken = true;
    do {
      await keep();
      const payments = await deps.payments.read(window, after, PAGE);
      const last = payments.length < PAGE ? undefined : payments.at(-1);
      after = last?.endedAt && { endedAt: last.endedAt, reference: last._id };
      isTaken = await take({ run, records: await deps.recordsOf(run, payments), after });
    } while (isTaken && after && goesOn());
    return isTaken;
  };
}

/** Stores the records of a page and moves on, if the run is still this replica's; gives whether it is. */
async function takePage<Run extends MatchRun, Record extends MatchRecord>(
  { store, next, gathered }: GatheringDeps<Run, Record>,
  { run: { _id, claim, stage }, records, after }: Page<Run, Record>,
  transaction: Transaction,
): Promise<boolean> {
  const { session } = transaction;
  const mine = { _id, claim, stage } as Filter<Run>;
  const held = await store.runs.findOne(mine, { session });
  if (!held) return false;
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
  const changed = { added: held.added + fresh, ...(isLate && { late: (held.late ?? 0) + fresh }) };
  // What was done is not any more, once something late was found.
  const gone = { ...(!after && { after: true }), ...(isLate && { rereading: true, counts: true }) };
  const update = {
    $set: { ...changed, ...(after ? { after } : { stage: next }) },
    ...(Object.keys(gone).length > 0 && { $unset: gone }),
  };
  await store.runs.updateOne(mine, update as unknown as UpdateFilter<Run>, { session });
  if (gathered && fresh > 0) transaction.afterCommit(gathered);
  return true;
}

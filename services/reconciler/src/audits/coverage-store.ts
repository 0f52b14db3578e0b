import type { PaymentKind } from '@pesewa/contracts';
import type { Collection, Db } from 'mongodb';
import { inPagesBy, type NewestQuery, newest } from '../batches.ts';
import type { Gap } from '../domain/coverage.ts';
import { openStates, type Terms, type Tracked } from '../domain/tracked.ts';
import type { PollDocument } from '../poll-document.ts';

/** The outcome of an audit; `behind` if differences could not be distinguished from events that are merely late. */
export type CoverageStatus = 'running' | 'done' | 'behind' | 'failed';

/** The counts of an audit. */
export interface CoverageCounts {
  /** Open records of the gateways. */
  readonly read: number;
  /** Open payments of the working set. */
  readonly tracked: number;
  /** Payments by the difference found, without those that people had been shown before. */
  readonly found: Readonly<Record<Gap, number>>;
  /** Payments that were added to the working set, or whose end was adopted. */
  readonly repaired: number;
}

/** The outcome of an audit of one gateway; of a failed one, the name of the error, whose message is in the log. */
export interface CoverageSourceRun {
  readonly kind: PaymentKind;
  readonly status: Exclude<CoverageStatus, 'running'>;
  readonly error?: string;
}

/** One audit, with the worse outcome of its gateways; one that a crash interrupted stays at `running`. */
export interface CoverageRun extends CoverageCounts {
  readonly _id: string;
  readonly at: Date;
  readonly status: CoverageStatus;
  /** The gateways that are finished; absent in older audits. */
  readonly sources?: readonly CoverageSourceRun[];
  readonly tookMs: number;
}

/** The place of an open payment among those of its kind. */
export interface OpenRow {
  readonly _id: string;
  readonly openedAt: Date;
}

/** The working set as the audit reads it, and the audits' records. */
export type CoverageStore = ReturnType<typeof openCoverageStore>;

/** Opens the store. */
export function openCoverageStore(db: Db, polls: Collection<PollDocument>) {
  const runs = db.collection<CoverageRun>('coverage_runs');
  return {
    /** The state of payments; those outside the working set are left out. */
    standing: async (
      references: readonly string[],
    ): Promise<ReadonlyMap<string, Pick<Tracked, 'status' | 'terms'>>> => {
      const found = await polls
        .find({ _id: { $in: [...references] } })
        .project<{ _id: string; status: Tracked['status']; terms?: Terms }>({ status: 1, terms: 1 })
        .toArray();
      return new Map(found.map(({ _id, status, terms }) => [_id, { status, terms: terms ?? null }]));
    },
    /** Open payments that began before a time, oldest first, in pages. */
    open: (kind: PaymentKind, before: Date): AsyncIterable<readonly OpenRow[]> =>
      inPagesBy('openedAt', '_id', { $lt: before }, (where) =>
        polls
          // State by state, so that no payments are sorted.
          .find({ 'terms.kind': kind, openState: { $in: [...openStates] }, ...where })
          .project<OpenRow>({ _id: 1, openedAt: 1 }),
      ),
    record: async ({ _id, ...run }: CoverageRun): Promise<void> => {
      await runs.replaceOne({ _id }, run, { upsert: true });
    },
    list: (query: NewestQuery) => newest(runs, {}, query),
  };
}

import type { PaymentKind } from '@pesewa/contracts';
import type { Claimable } from '@pesewa/messaging';
import type { Db } from 'mongodb';
import type { CloseResult, Difference, Side } from '../domain/close.ts';
import type { UncomparedPlace, Window } from '../matching/payments.ts';
import { type MatchRecord, type MatchRun, openMatchStore } from '../matching/store.ts';

/**
 * A close as MongoDB holds it; `_id` names its day, and its rail if it is of one, so that each is closed once (ADR 29).
 * Its payments are asked about; then those that were reported late are, until there are no more.
 */
export interface CloseDocument extends MatchRun, Window {
  readonly stage: 'asking' | 'done';
  /** The last payment that was added, while the payments are being read. */
  readonly after?: UncomparedPlace;
}

/** A payment in a close, named by its reference. Amounts in minor units. */
export interface CloseRecord extends MatchRecord, Claimable {
  readonly reference: string;
  readonly kind: PaymentKind;
  readonly rail: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly endedAt: Date;
  readonly result: CloseResult;
  /** The rail to ask, by which it is claimed; absent while it is not asked. */
  readonly waits?: string;
  readonly tries: number;
  /** When the rail was last asked, by the database's clock. */
  readonly askedAt?: Date;
  readonly ours?: Side;
  /** The rail's latest answer; while there is no result, or if it differs, one that differed. */
  readonly theirs?: Side;
  readonly differences?: readonly Difference[];
  /** Why it is unclear, or has no result yet. */
  readonly why?: string;
  /** Set if the rail reported an end that its owner did not know, which was published as a fact. */
  readonly correctionSent?: true;
}

/** The closes of this service's database, and their records. */
export type CloseStore = ReturnType<typeof openCloseStore>;

/** Finished closes of a whole day over all rails, recognised by their ids, which are in the order of their windows. */
export const dayCloses = { _id: /^\d{4}-\d{2}-\d{2}$/, finishedAt: { $exists: true } };

/** Opens the store. */
export function openCloseStore(db: Db) {
  const store = openMatchStore<CloseDocument, CloseRecord>(db, { runs: 'closes', records: 'close_records' });
  return {
    ...store,
    /**
     * Has late payments of a close looked for, if it is finished, and rails asked once more about those with these results;
     * the close stays done, and the results stand, until something else is found. A record waits only while its close is
     * due, so that its result is counted.
     */
    askAgain: async (id: string, results: readonly CloseResult[], dueAt: Date): Promise<void> => {
      const done = { _id: id, stage: 'done' } as const;
      await db.client.withSession((session) =>
        session.withTransaction(async () => {
          const due = await store.runs.updateOne(done, { $set: { running: true, dueAt } }, { session });
          if (due.matchedCount === 0) return;
          const asked = { run: id, result: { $in: [...results] }, waits: { $exists: false } };
          await store.records.updateMany(asked, [{ $set: { waits: '$rail', dueAt } }], { session });
        }),
      );
    },
  };
}

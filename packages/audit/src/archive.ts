import { archiveNoteOf, ERASURES } from '@pesewa/contracts';
import { type IdPrefix, isId } from '@pesewa/kernel';
import type { ClientSession, Db } from 'mongodb';
import type { Findings, Invariant } from './findings.ts';
import type { EntryRecord } from './records.ts';

/** The databases of payments, each with a collection of the same name. */
export type Gateway = 'payouts' | 'collections';

/** What a gateway has archived, as far as entries without a payment speak of it. */
export interface Archive {
  /** Of entries whose payment is gone those that no archive explains. */
  readonly lost: (
    entries: readonly Pick<EntryRecord, '_id' | 'reference' | 'kind'>[],
  ) => Promise<readonly Pick<EntryRecord, '_id'>[]>;
  /** Holds what entries speak of against what is there: of fewer archived payments some are lost. */
  readonly compare: () => Promise<void>;
  /** Archived payments that entries speak of. */
  readonly count: () => number;
}

const prefixes: Readonly<Record<Gateway, IdPrefix>> = { payouts: 'po', collections: 'co' };

/** The first entry of a payment; each has one at most (L7). */
const FIRST: ReadonlySet<string> = new Set(['hold', 'collect']);

/**
 * Builds the {@link Archive} of a gateway. What is archived keeps no reference of ours, but that begins with the time of birth,
 * and how old a payment must be at least was noted before any was archived.
 */
export function createArchive(deps: {
  readonly gateway: Gateway;
  readonly db: Db;
  /** The rule that is broken where payments are lost. */
  readonly invariant: Invariant;
  readonly session: ClientSession;
  readonly findings: Findings;
}): Archive {
  const { gateway, db, invariant, session, findings } = deps;
  let horizon = '';
  let count = 0;
  const isArchived = (reference: string) => isId(prefixes[gateway], reference) && reference < horizon;
  return {
    lost: async (entries) => {
      if (entries.some(({ reference }) => !isArchived(reference))) {
        // Only now: a note that was read before the payment may be older than what has archived it.
        const notes = db.collection<{ readonly _id: string; readonly until: string }>(ERASURES);
        horizon = (await notes.findOne({ _id: archiveNoteOf(gateway) }, { session }))?.until ?? '';
      }
      count += entries.filter(({ kind, reference }) => FIRST.has(kind) && isArchived(reference)).length;
      return entries.filter(({ reference }) => !isArchived(reference));
    },
    compare: async () => {
      if (count === 0) return;
      const stored = await db.collection(gateway).countDocuments({ end: { $exists: true } }, { session });
      if (stored >= count) return;
      const message = `entries speak of ${count} archived payments, and ${stored} are archived: the others are lost`;
      findings.report(invariant, gateway, message);
    },
    count: () => count,
  };
}

import { archiveNoteOf, ERASURES } from '@pesewa/contracts';
import { type IdPrefix, isId } from '@pesewa/kernel';
import type { ClientSession, Db } from 'mongodb';
import type { Findings, Invariant } from './findings.ts';
import type { PostingRecord } from './records.ts';

/** The databases that contain payments, each in a collection of the same name. */
export type Gateway = 'payouts' | 'collections';

/** Checks postings without a payment against what a gateway has archived. */
export interface Archive {
  /** Returns those of the postings without a payment that archiving does not explain. */
  readonly lost: (
    postings: readonly Pick<PostingRecord, '_id' | 'reference' | 'kind'>[],
  ) => Promise<readonly Pick<PostingRecord, '_id'>[]>;
  /** Reports a violation if fewer payments are archived than the postings name: the others are lost. */
  readonly compare: () => Promise<void>;
  /** The number of archived payments that the postings name. */
  readonly count: () => number;
}

/** The prefix of the references of a gateway's payments. */
export const prefixes: Readonly<Record<Gateway, IdPrefix>> = { payouts: 'po', collections: 'co' };

/** The kinds of a payment's first posting, of which each payment has at most one (L7). */
const FIRST: ReadonlySet<string> = new Set(['hold', 'collect']);

/**
 * Builds the {@link Archive} of a gateway. An archived payment does not keep our reference, but a reference begins with
 * its creation time, and the reference before which payments may be archived is noted before any is archived.
 */
export function createArchive(deps: {
  readonly gateway: Gateway;
  readonly db: Db;
  /** The invariant that lost payments violate. */
  readonly invariant: Invariant;
  readonly session: ClientSession;
  readonly findings: Findings;
}): Archive {
  const { gateway, db, invariant, session, findings } = deps;
  let horizon = '';
  let count = 0;
  const isArchived = (reference: string) => isId(prefixes[gateway], reference) && reference < horizon;
  return {
    lost: async (postings) => {
      if (postings.some(({ reference }) => !isArchived(reference))) {
        // Read only now: a note that was read before the payment could be older than the run that archived the payment.
        const notes = db.collection<{ readonly _id: string; readonly until: string }>(ERASURES);
        horizon = (await notes.findOne({ _id: archiveNoteOf(gateway) }, { session }))?.until ?? '';
      }
      count += postings.filter(({ kind, reference }) => FIRST.has(kind) && isArchived(reference)).length;
      return postings.filter(({ reference }) => !isArchived(reference));
    },
    compare: async () => {
      if (count === 0) return;
      const stored = await db.collection(gateway).countDocuments({ end: { $exists: true } }, { session });
      if (stored >= count) return;
      const message = `postings name ${count} archived payments, and ${stored} are archived: the others are lost`;
      findings.report(invariant, gateway, message);
    },
    count: () => count,
  };
}

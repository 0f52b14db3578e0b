import { type ArchivedEnd, archivedEnds, archiveNoteOf, ERASURES } from '@pesewa/contracts';
import { type IdPrefix, isId } from '@pesewa/kernel';
import type { Db, Document, Filter } from 'mongodb';
import type { Erasure } from './eraser.ts';

/**
 * How long a payment must have been at rest before it is archived, whenever it was accepted: longer than anybody who consumes its
 * events, asks for them again or compares its record looks back.
 */
const REST_MS = 400 * 86_400_000;

/** What is left of a payment in its collection: the reference of its merchant, taken for ever, and how it ended. */
export interface ArchivedDocument {
  readonly _id: string;
  /** Absent where it was no payment: a reference that a batch had reserved. */
  readonly end?: keyof typeof archivedEnds;
}

/** A payment of which nothing is kept but its merchant's reference. */
export interface ArchivedPayment {
  /** How it ended; null if the request does not allow to know it. */
  readonly archived: ArchivedEnd | null;
}

/** What is found by a reference: the payment, or that it is archived. */
export type Found<Payment> = Payment | ArchivedPayment;

/** Whether what was found is archived. */
export function isArchived<Payment extends object>(found: Found<Payment>): found is ArchivedPayment {
  return 'archived' in found;
}

/** Whether a document is what is left of one: every other has our reference. */
export function isArchivedDocument(document: object): document is ArchivedDocument {
  return !('reference' in document);
}

/** An archived payment as it was stored. */
export function readArchived({ end }: ArchivedDocument): ArchivedPayment {
  return { archived: end === undefined ? null : archivedEnds[end] };
}

/**
 * The second stage of erasing payments: what the first has left of them makes room for an {@link ArchivedDocument}, in place, so
 * that their merchants' references stay taken with no further read (ADR 53).
 */
export function archiveOf<Record extends Document>(first: Erasure<Record>): Erasure<Record> {
  return {
    ...first,
    name: archiveNoteOf(first.collection),
    open: (nowMs) => {
      const isRecent: object = { 'timeline.at': { $gt: new Date(nowMs - REST_MS) } };
      return { $or: [first.open(nowMs), first.whole, isRecent as Filter<Record>] } as Filter<Record>;
    },
    whole: {},
    erase: [{ $replaceWith: { _id: '$_id', end: { $substrCP: ['$status', 0, 1] } } }],
  };
}

/** Whether a text is a reference of ours so old that its payment may be archived, which is no longer found by it. */
export async function isBeforeHorizon(
  db: Db,
  collection: string,
  { prefix, reference }: { readonly prefix: IdPrefix; readonly reference: string },
): Promise<boolean> {
  if (!isId(prefix, reference)) return false;
  const notes = db.collection<{ readonly _id: string; readonly until: string }>(ERASURES);
  const note = await notes.findOne({ _id: archiveNoteOf(collection) }, { projection: { until: 1 } });
  return note !== null && reference < note.until;
}

import { type ArchivedEnd, archivedEnds, archiveNoteOf, ERASURES } from '@pesewa/contracts';
import { DAY_MS, type IdPrefix, isId } from '@pesewa/kernel';
import type { Erasure } from '@pesewa/messaging';
import { wholeNumberSetting } from '@pesewa/runtime';
import type { Db, Document, Filter } from 'mongodb';
import { z } from 'zod';

/**
 * How long a payment must be without changes before it is archived, whenever it was accepted: longer than any consumer of
 * its events, any request for republishing and any comparison of its record looks back.
 */
const UNCHANGED_FOR_MS = 400 * DAY_MS;

/** The rest of an archived payment: its merchant's reference, which stays taken, and its end. */
export interface ArchivedDocument {
  readonly _id: string;
  /** Absent for a reference that a batch had only reserved. */
  readonly end?: keyof typeof archivedEnds;
}

/** A payment of which only its merchant's reference and its end are kept. */
export interface ArchivedPayment {
  /** How the payment ended; null if that is not known. */
  readonly archived: ArchivedEnd | null;
}

/** The result of looking up a reference: the payment, or what is left of an archived one. */
export type PaymentOrArchived<Payment> = Payment | ArchivedPayment;

/** Whether the found payment is archived. */
export function isArchived<Payment extends object>(
  found: PaymentOrArchived<Payment>,
): found is ArchivedPayment {
  return 'archived' in found;
}

/** Whether a document is that of an archived payment; all others have our reference. */
export function isArchivedDocument(document: object): document is ArchivedDocument {
  return !('reference' in document);
}

/** Converts a stored document to an archived payment. */
export function readArchived({ end }: ArchivedDocument): ArchivedPayment {
  return { archived: end === undefined ? null : archivedEnds[end] };
}

/**
 * Builds the second stage of erasing payments from the first one: it replaces their documents in place by an
 * {@link ArchivedDocument}, so that the merchants' references stay taken without a further read.
 */
export function archiveOf<Record extends Document>(first: Erasure<Record>): Erasure<Record> {
  return {
    ...first,
    name: archiveNoteOf(first.collection),
    open: (nowMs) => {
      const isRecent: object = { 'timeline.at': { $gt: new Date(nowMs - UNCHANGED_FOR_MS) } };
      return { $or: [first.open(nowMs), first.notErased, isRecent as Filter<Record>] } as Filter<Record>;
    },
    notErased: {},
    erase: [{ $replaceWith: { _id: '$_id', end: { $substrCP: ['$status', 0, 1] } } }],
  };
}

/** Whether a text is a reference of ours that is so old that its payment may be archived; lookups no longer find it. */
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

/** How long a gateway keeps its payments; spread the shape, then `superRefine` the whole by {@link refuseEarlyArchive}. */
export const paymentKeepSettings = z.object({
  PERSONAL_DATA_KEEP_DAYS: wholeNumberSetting({ min: 30, max: 3_650 })
    .default(400)
    .describe("how long after acceptance an ended payment keeps people's names, numbers and accounts"),
  // At least longer than the reconciler watches for a payment by default, and than all that looks back.
  PAYMENT_KEEP_DAYS: wholeNumberSetting({ min: 1_000, max: 36_500 })
    .default(4_000)
    .describe('how long after acceptance an ended payment is kept; its reference stays taken'),
});

/** For `superRefine` of a gateway's settings: a payment is archived after it was erased. */
export function refuseEarlyArchive(
  settings: z.output<typeof paymentKeepSettings>,
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (settings.PAYMENT_KEEP_DAYS > settings.PERSONAL_DATA_KEEP_DAYS) return;
  context.addIssue({
    code: 'custom',
    path: ['PAYMENT_KEEP_DAYS'],
    message: 'must be more than PERSONAL_DATA_KEEP_DAYS',
  });
}

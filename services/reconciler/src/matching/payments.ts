import type { ClientSession, Collection } from 'mongodb';
import { inPagesBy } from '../batches.ts';
import { UNCOMPARED_KEY } from '../database-schema.ts';
import type { PollDocument } from '../poll-document.ts';

/**
 * The payments that a run is about: those that ended in a period, at one rail or, where it is null, at all that send no
 * statements.
 */
export interface Window {
  readonly from: Date;
  readonly to: Date;
  readonly rail: string | null;
}

const FIELDS = { terms: 1, status: 1, received: 1, charged: 1, endedAt: 1, uncompared: 1 } as const;

/** What a run reads of a payment. */
export type WindowPayment = Pick<PollDocument, '_id' | keyof typeof FIELDS>;

/** How long finding the oldest ones may take. */
const OLDEST_TIMEOUT_MS = 1_000;

/** The payment of a rail that ended first of those that nothing has compared with the rail's record. */
export interface OldestUncompared {
  readonly rail: string;
  readonly reference: string;
  readonly endedAt: Date;
}

/** Where the reading of uncompared payments stands: they are in the order of rail, end and reference. */
export interface UncomparedPlace {
  readonly rail: string;
  readonly endedAt: Date;
  readonly reference: string;
}

/** The ended payments of the working set. */
export type WindowPayments = ReturnType<typeof openWindowPayments>;

/** Opens {@link WindowPayments}; a window over all rails leaves out those whose statement is their close. */
export function openWindowPayments(polls: Collection<PollDocument>, byStatement: readonly string[] = []) {
  const ofRails = ({ rail }: Window) => ({ 'terms.rail': rail ?? { $nin: [...byStatement] } });
  return {
    /** All payments of a window in the order of their ends, in pages. */
    ended: (window: Window): AsyncGenerator<readonly WindowPayment[]> =>
      inPagesBy<WindowPayment>('endedAt', '_id', { $gte: window.from, $lt: window.to }, (where) =>
        polls.find({ ...where, ...ofRails(window) }).project<WindowPayment>(FIELDS),
      ),
    ...openUncompared(polls, byStatement),
    /** Those of these payments whose terms are known. */
    find: (references: readonly string[]): Promise<readonly WindowPayment[]> =>
      polls
        .find({ _id: { $in: [...new Set(references)] }, terms: { $exists: true } })
        .project<WindowPayment>(FIELDS)
        .toArray(),
  };
}

/** Opens the ended payments that nothing has compared with their rail's record since they ended. */
function openUncompared(polls: Collection<PollDocument>, byStatement: readonly string[]) {
  const limits = { maxTimeMS: OLDEST_TIMEOUT_MS } as const;
  /** Found by seeking from one rail's keys to the next. */
  const railsUncompared = async () => {
    const found = await polls.distinct('uncompared', { uncompared: { $gt: '' } }, limits);
    return found.filter((rail) => rail !== undefined);
  };
  return {
    /** The payments of a window that nothing has compared since they ended, in pages; all, or those after one of them. */
    uncompared: async function* (
      { from, to, rail }: Window,
      place?: UncomparedPlace,
    ): AsyncGenerator<readonly WindowPayment[]> {
      const asked = async () => (await railsUncompared()).filter((one) => !byStatement.includes(one));
      const rails = (rail === null ? await asked() : [rail]).toSorted();
      for (const uncompared of rails.filter((one) => place === undefined || one >= place.rail)) {
        const isInside = place?.rail === uncompared;
        const range = {
          $gte: from,
          $lt: to,
          ...(isInside && { after: { _id: place.reference, endedAt: place.endedAt } }),
        };
        yield* inPagesBy<WindowPayment>('endedAt', '_id', range, (where) =>
          polls
            .find({ uncompared, ...where })
            .hint(UNCOMPARED_KEY)
            .project<WindowPayment>(FIELDS),
        );
      }
    },
    /** Of each rail that has any the one that ended first, by a key for each. */
    oldestUncompared: async (): Promise<readonly OldestUncompared[]> => {
      const first = { reference: { $first: '$_id' }, endedAt: { $first: '$endedAt' } };
      return polls
        .aggregate<OldestUncompared>(
          [
            { $match: { uncompared: { $gt: '' } } },
            { $sort: UNCOMPARED_KEY },
            { $group: { _id: '$uncompared', ...first } },
            { $sort: { _id: 1 } },
            { $project: { _id: 0, rail: '$_id', reference: 1, endedAt: 1 } },
          ],
          { hint: UNCOMPARED_KEY, ...limits },
        )
        .toArray();
    },
    /** Notes that statements have compared payments, as far as they are the rail's close and the end is the present one. */
    compared: async (payments: readonly WindowPayment[], session: ClientSession): Promise<void> => {
      const writes = payments.flatMap(({ _id, endedAt, uncompared }) =>
        endedAt === undefined || uncompared === undefined || !byStatement.includes(uncompared)
          ? []
          : [{ updateOne: { filter: { _id, endedAt }, update: { $unset: { uncompared: true as const } } } }],
      );
      if (writes.length > 0) await polls.bulkWrite(writes, { session, ordered: false });
    },
    /** Notes that payments must be compared again, but not those that the next close would all ask about. */
    compareAgain: async (references: readonly string[]): Promise<void> => {
      const ofRails = { endedAt: { $exists: true }, 'terms.rail': { $in: [...byStatement] } };
      const marked = [{ $set: { uncompared: '$terms.rail' } }];
      await polls.updateMany({ _id: { $in: [...references] }, ...ofRails }, marked);
    },
  };
}

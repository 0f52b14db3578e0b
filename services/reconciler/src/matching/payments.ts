import type { Collection } from 'mongodb';
import { COUNT_TIMEOUT_MS, inPagesBy, inTime } from '../batches.ts';
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

/** Where the reading of a window continues: after this payment. */
export interface WindowCursor {
  readonly endedAt: Date;
  readonly reference: string;
}

const FIELDS = { terms: 1, status: 1, received: 1, charged: 1, endedAt: 1 } as const;

const HEARD_MARGIN_MS = 60_000;

/** What a run reads of a payment. */
export type WindowPayment = Pick<PollDocument, '_id' | keyof typeof FIELDS>;

/** The ended payments of the working set. */
export type WindowPayments = ReturnType<typeof openWindowPayments>;

/** Opens {@link WindowPayments}; a window over all rails leaves out those whose statement is their close. */
export function openWindowPayments(polls: Collection<PollDocument>, byStatement: readonly string[] = []) {
  const ofRail = ({ rail }: Window) => ({ 'terms.rail': rail ?? { $nin: [...byStatement] } });
  return {
    /** The next payments of a window in the order of their ends; at most `limit`. */
    read: (
      window: Window,
      after: WindowCursor | undefined,
      limit: number,
    ): Promise<readonly WindowPayment[]> => {
      const { from, to } = window;
      const rest = after && {
        $or: [{ endedAt: { $gt: after.endedAt } }, { _id: { $gt: after.reference } }],
      };
      return polls
        .find({ endedAt: { $gte: after?.endedAt ?? from, $lt: to }, ...ofRail(window), ...rest })
        .project<WindowPayment>(FIELDS)
        .sort({ endedAt: 1, _id: 1 })
        .limit(limit)
        .toArray();
    },
    /** The payments of a window whose ends were reported late, from then on, in pages. */
    late: (window: Window, since: Date) => {
      // Clocks of replicas differ, and what was heard is stored a little later.
      const $gte = new Date(since.getTime() - HEARD_MARGIN_MS);
      return inPagesBy('endHeardAt', '_id', { $gte }, (where) =>
        polls
          .find({ ...where, endedAt: { $gte: window.from, $lt: window.to }, ...ofRail(window) })
          .hint({ endHeardAt: 1, _id: 1 })
          .project<WindowPayment & Pick<PollDocument, 'endHeardAt'>>({ ...FIELDS, endHeardAt: 1 }),
      );
    },
    /** Those of these payments whose terms are known. */
    find: (references: readonly string[]): Promise<readonly WindowPayment[]> =>
      polls
        .find({ _id: { $in: [...new Set(references)] }, terms: { $exists: true } })
        .project<WindowPayment>(FIELDS)
        .toArray(),
    /** How many payments of each rail are in a window; null if there are too many to count in time. */
    count: async (window: Window): Promise<ReadonlyMap<string, number> | null> => {
      const { from, to } = window;
      const byRail = [
        { $match: { endedAt: { $gte: from, $lt: to }, ...ofRail(window) } },
        { $group: { _id: '$terms.rail', count: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ];
      const found = await inTime(
        polls
          .aggregate<{ readonly _id: string; readonly count: number }>(byRail, {
            maxTimeMS: COUNT_TIMEOUT_MS,
          })
          .toArray(),
      );
      return found && new Map(found.map(({ _id, count }) => [_id, count]));
    },
  };
}

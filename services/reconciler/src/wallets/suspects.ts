import type { Db } from 'mongodb';
import { inTime } from '../batches.ts';
import { IN_FLIGHT_KEY } from '../database-schema.ts';
import type { Suspect } from '../domain/candidates.ts';
import type { Measurement } from '../domain/drift.ts';
import type { PollDocument } from '../poll-document.ts';

/** What is in flight in one currency of a rail; minor units. */
export type InFlight = Measurement['inFlight'];

/** The payments that affect a rail's wallets. */
export type PaymentsAtRail = ReturnType<typeof openPaymentsAtRail>;

/** Longer than summing millions takes. */
const SUM_TIMEOUT_MS = 60_000;
/** Up to how many payments in flight in one currency are listed; more are only summed. */
const LISTED_MAX = 100;
const ENDED_MAX = 5_000;
/** An explanation of a drift is not worth a longer wait. */
const ENDED_TIMEOUT_MS = 2_000;

/** Sums what is in flight in each currency, and lists the first of the payments, by the keys of {@link IN_FLIGHT_KEY}. */
const SUM_IN_FLIGHT = {
  $group: {
    _id: '$terms.currency',
    mayDebit: { $sum: '$mayDebit' },
    mayCredit: { $sum: '$mayCredit' },
    count: { $sum: 1 },
    payments: {
      $firstN: {
        input: { reference: '$_id', mayDebit: '$mayDebit', mayCredit: '$mayCredit' },
        n: LISTED_MAX,
      },
    },
  },
};

/** Opens {@link PaymentsAtRail} over the working set. */
export function openPaymentsAtRail(db: Db) {
  const polls = db.collection<PollDocument>('polls');
  return {
    /** What is in flight at a rail, by currency: read from the index alone, however many payments are open. */
    inFlight: async (rail: string): Promise<ReadonlyMap<string, InFlight>> => {
      const found = await polls
        .aggregate<Required<InFlight> & { readonly _id: string; readonly count: number }>(
          [{ $match: { inFlight: true, 'terms.rail': rail } }, SUM_IN_FLIGHT],
          { hint: IN_FLIGHT_KEY, maxTimeMS: SUM_TIMEOUT_MS },
        )
        .toArray();
      return new Map(
        found.map(({ _id, count, payments, ...sums }) => [
          _id,
          count > LISTED_MAX ? sums : { ...sums, payments },
        ]),
      );
    },
    /** The newest payments that ended since then; none if reading them takes too long. */
    ended: async (rail: string, currency: string, $gte: Date): Promise<readonly Suspect[]> => {
      const found = polls
        .find(
          { 'terms.rail': rail, 'terms.currency': currency, endedAt: { $gte } },
          { maxTimeMS: ENDED_TIMEOUT_MS, sort: { endedAt: -1 }, limit: ENDED_MAX },
        )
        .project<Pick<PollDocument, '_id' | 'terms' | 'status' | 'received'>>({
          terms: 1,
          status: 1,
          received: 1,
        });
      return ((await inTime(found.toArray())) ?? []).flatMap(
        ({ _id: reference, terms, status, received }) => {
          if (!terms) return [];
          const { kind, railFee, amount } = terms;
          return [{ reference, kind, status, amount: received ?? amount, railFee }];
        },
      );
    },
  };
}

import type { Collection, Db } from 'mongodb';
import { isOutOfTime } from '../batches.ts';
import { IN_FLIGHT_KEY } from '../database-schema.ts';
import type { Suspect } from '../domain/candidates.ts';
import type { Measurement } from '../domain/drift.ts';
import type { PollDocument } from '../poll-document.ts';

/** What is in flight in one currency of a rail; minor units. */
export type InFlight = Measurement['inFlight'];

/** The payments that affect a rail's wallets. */
export type PaymentsAtRail = ReturnType<typeof openPaymentsAtRail>;

/** A wallet out of range, and the size of what is unexplained: minor units, not negative. */
interface SuspectQuery {
  readonly rail: string;
  readonly currency: string;
  readonly size: bigint;
  readonly endedSince: Date;
}

/** Longer than summing millions takes. */
const SUM_TIMEOUT_MS = 60_000;
const ENDED_MAX = 5_000;
const IN_FLIGHT_MAX = 20;
/** An explanation of a drift is not worth a longer wait. */
const LOOK_TIMEOUT_MS = 2_000;

const AS_SUSPECT = { terms: 1, status: 1, received: 1 } as const;

/** Opens {@link PaymentsAtRail} over the working set. */
export function openPaymentsAtRail(db: Db) {
  const polls = db.collection<PollDocument>('polls');
  return {
    /** What is in flight at a rail, by currency: read from the index alone, however many payments are open. */
    inFlight: async (rail: string): Promise<ReadonlyMap<string, InFlight>> => {
      const found = await polls
        .aggregate<InFlight & { readonly _id: string }>(
          [
            { $match: { inFlight: true, 'terms.rail': rail } },
            {
              $group: {
                _id: '$terms.currency',
                mayDebit: { $sum: '$mayDebit' },
                mayCredit: { $sum: '$mayCredit' },
              },
            },
          ],
          { hint: IN_FLIGHT_KEY, maxTimeMS: SUM_TIMEOUT_MS },
        )
        .toArray();
      return new Map(found.map(({ _id, ...totals }) => [_id, totals]));
    },
    /**
     * Payments that may explain a wallet out of range: the newest ends, and those in flight of this size; a bounded
     * search.
     */
    suspects: async ({ rail, currency, size, endedSince }: SuspectQuery): Promise<readonly Suspect[]> => {
      const wallet = { 'terms.rail': rail, 'terms.currency': currency };
      const flying = { ...wallet, inFlight: true as const };
      const lists = await Promise.all([
        look(polls, { ...wallet, endedAt: { $gte: endedSince } }, ENDED_MAX, { endedAt: -1 }),
        look(polls, { ...flying, mayDebit: size }, IN_FLIGHT_MAX),
        look(polls, { ...flying, mayCredit: size }, IN_FLIGHT_MAX),
      ]);
      return lists.flat().flatMap(toSuspect);
    },
  };
}

type Found = Pick<PollDocument, '_id' | keyof typeof AS_SUSPECT>;

/** The results that can be read in time. */
async function look(
  polls: Collection<PollDocument>,
  filter: Parameters<typeof polls.find>[0],
  most: number,
  sort?: { readonly endedAt: -1 },
): Promise<readonly Found[]> {
  const found: Found[] = [];
  const cursor = polls
    .find(filter, { projection: AS_SUSPECT, maxTimeMS: LOOK_TIMEOUT_MS, ...(sort && { sort }) })
    .limit(most);
  try {
    for await (const document of cursor) found.push(document);
  } catch (error) {
    if (!isOutOfTime(error)) throw error;
  }
  return found;
}

function toSuspect({ _id, terms, status, received }: Found): readonly Suspect[] {
  if (!terms) return [];
  const { kind, railFee } = terms;
  return [{ reference: _id, kind, status, amount: received ?? terms.amount, railFee }];
}

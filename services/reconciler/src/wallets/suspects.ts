import type { Collection, Db, FindOptions } from 'mongodb';
import { isOutOfTime } from '../batches.ts';
import { IN_FLIGHT_KEY, OPEN_KEY } from '../database-schema.ts';
import type { Suspect } from '../domain/candidates.ts';
import type { Measurement } from '../domain/drift.ts';
import type { OpenPayment } from '../domain/drift-explanation.ts';
import { openStates } from '../domain/tracked.ts';
import type { PollDocument } from '../poll-document.ts';
import type { OverduePayments } from './store.ts';

/** What is in flight in one currency of a rail; minor units. */
export type InFlight = Measurement['inFlight'];

/** The payments that affect a rail's wallets. */
export type PaymentsAtRail = ReturnType<typeof openPaymentsAtRail>;

/** A wallet that is not explained, and what may be missing: minor units, not negative. */
interface SuspectQuery {
  readonly rail: string;
  readonly currency: string;
  readonly sizes: readonly bigint[];
  readonly endedSince: Date;
}

/** Longer than summing millions takes. */
const SUM_TIMEOUT_MS = 60_000;
/** Up to how many payments in flight in one currency are listed; more are only summed. */
const LISTED_MAX = 100;
const OVERDUE_MAX = 1_000;
const OVERDUE_NAMED_MAX = 5;
const ENDED_MAX = 5_000;
const IN_FLIGHT_MAX = 20;
/** An explanation of a drift is not worth a longer wait. */
const LOOK_TIMEOUT_MS = 2_000;

const AS_OPEN = { 'terms.currency': 1, mayDebit: 1, mayCredit: 1 } as const;
const AS_OVERDUE = { ...AS_OPEN, openedAt: 1 } as const;
const AS_SUSPECT = { terms: 1, status: 1, received: 1 } as const;

/** Opens {@link PaymentsAtRail} over the working set. */
export function openPaymentsAtRail(db: Db) {
  const polls = db.collection<PollDocument>('polls');
  return {
    /** What is in flight at a rail, by currency: summed from the index alone, however many payments are open. */
    inFlight: async (rail: string): Promise<ReadonlyMap<string, InFlight>> => {
      const found = await polls
        .aggregate<InFlight & { readonly _id: string; readonly count: number }>(
          [
            { $match: { inFlight: true, 'terms.rail': rail } },
            {
              $group: {
                _id: '$terms.currency',
                mayDebit: { $sum: '$mayDebit' },
                mayCredit: { $sum: '$mayCredit' },
                count: { $sum: 1 },
              },
            },
          ],
          { hint: IN_FLIGHT_KEY, maxTimeMS: SUM_TIMEOUT_MS },
        )
        .toArray();
      const few = found.filter(({ count }) => count <= LISTED_MAX).map(({ _id }) => _id);
      const listed = await listOpen(polls, rail, few);
      return new Map(
        found.map(({ _id, mayDebit, mayCredit }) => [
          _id,
          few.includes(_id) ? sumOf(listed.get(_id) ?? []) : { mayDebit, mayCredit },
        ]),
      );
    },
    /** By currency, the payments of a rail that began before a time and are open; a bounded search. */
    overdue: async (rail: string, before: Date): Promise<ReadonlyMap<string, OverduePayments>> => {
      const filter = {
        'terms.kind': { $in: ['payout', 'collection'] as const },
        openState: { $in: openStates },
        openedAt: { $lt: before },
        inFlight: true as const,
        'terms.rail': rail,
      };
      const { found, isCut } = await look<Open>(polls, filter, {
        projection: AS_OVERDUE,
        hint: OPEN_KEY,
        limit: OVERDUE_MAX,
      });
      const byCurrency = Map.groupBy(found, ({ terms }) => terms?.currency ?? '');
      return new Map([...byCurrency].map(([currency, payments]) => [currency, toOverdue(payments, isCut)]));
    },
    /**
     * Payments that may explain a wallet out of range: the newest ends, and the first in flight of each of these
     * sizes; a bounded search.
     */
    suspects: async ({ rail, currency, sizes, endedSince }: SuspectQuery): Promise<readonly Suspect[]> => {
      const wallet = { 'terms.rail': rail, 'terms.currency': currency };
      const flying = { ...wallet, inFlight: true as const };
      const open = { projection: AS_SUSPECT };
      const ended = { ...open, sort: { endedAt: -1 } as const };
      const lists = await Promise.all([
        look<Found>(polls, { ...wallet, endedAt: { $gte: endedSince } }, { ...ended, limit: ENDED_MAX }),
        ...[...new Set(sizes)].flatMap((size) => [
          look<Found>(polls, { ...flying, mayDebit: size }, { ...open, limit: IN_FLIGHT_MAX }),
          look<Found>(polls, { ...flying, mayCredit: size }, { ...open, limit: IN_FLIGHT_MAX }),
        ]),
      ]);
      return lists.flatMap(({ found }) => found.flatMap(toSuspect));
    },
  };
}

/** The payments in flight in these currencies, each of which has few. */
async function listOpen(
  polls: Collection<PollDocument>,
  rail: string,
  currencies: readonly string[],
): Promise<ReadonlyMap<string, readonly OpenPayment[]>> {
  if (currencies.length === 0) return new Map();
  const found = await polls
    .find(
      { inFlight: true, 'terms.rail': rail, 'terms.currency': { $in: [...currencies] } },
      { projection: AS_OPEN, hint: IN_FLIGHT_KEY, maxTimeMS: SUM_TIMEOUT_MS },
    )
    .toArray();
  const byCurrency = Map.groupBy(found, ({ terms }) => terms?.currency ?? '');
  return new Map([...byCurrency].map(([currency, payments]) => [currency, payments.map(toOpen)]));
}

function toOpen({
  _id,
  mayDebit = 0n,
  mayCredit = 0n,
}: Pick<PollDocument, '_id' | 'mayDebit' | 'mayCredit'>) {
  return { reference: _id, mayDebit, mayCredit };
}

function sumOf(payments: readonly OpenPayment[]) {
  return {
    mayDebit: payments.reduce((sum, { mayDebit }) => sum + mayDebit, 0n),
    mayCredit: payments.reduce((sum, { mayCredit }) => sum + mayCredit, 0n),
    payments,
  };
}

function toOverdue(found: readonly Open[], isCut: boolean): OverduePayments {
  const oldest = found.toSorted((one, other) => one.openedAt.getTime() - other.openedAt.getTime());
  const { payments: _, ...sums } = sumOf(found.map(toOpen));
  return {
    count: found.length,
    ...(isCut && { isCut }),
    ...sums,
    oldestAt: oldest[0]?.openedAt ?? new Date(0),
    references: oldest.slice(0, OVERDUE_NAMED_MAX).map(({ _id }) => _id),
  };
}

type Found = Pick<PollDocument, '_id' | keyof typeof AS_SUSPECT>;
type Open = Pick<PollDocument, '_id' | 'terms' | 'openedAt' | 'mayDebit' | 'mayCredit'>;

/** The results that can be read in time, and whether there may be more. */
async function look<Shape extends { readonly _id: string }>(
  polls: Collection<PollDocument>,
  filter: Parameters<typeof polls.find>[0],
  options: FindOptions & { readonly limit: number },
): Promise<{ readonly found: readonly Shape[]; readonly isCut: boolean }> {
  const found: Shape[] = [];
  const cursor = polls
    .find(filter, { ...options, maxTimeMS: LOOK_TIMEOUT_MS })
    .project<Shape>(options.projection ?? {});
  try {
    for await (const document of cursor) found.push(document);
  } catch (error) {
    if (!isOutOfTime(error)) throw error;
    return { found, isCut: true };
  }
  return { found, isCut: found.length === options.limit };
}

function toSuspect({ _id, terms, status, received }: Found): readonly Suspect[] {
  if (!terms) return [];
  const { kind, railFee } = terms;
  return [{ reference: _id, kind, status, amount: received ?? terms.amount, railFee }];
}

/** A limit on how often something may be done for one customer's number within an hour, by the UTC clock. */
export interface NumberLimit {
  /** What is counted, for whom, in which hour; does not contain the number itself. */
  readonly id: string;
  readonly max: number;
  /** Until the next hour begins. */
  readonly retryAfterSeconds: number;
  /** After this time the hour's count is not needed any more. */
  readonly forgetAtMs: number;
}

/** A limit this high means no limit, and nothing is counted. */
export const UNCOUNTED_FROM = 1_000_000;

const HOUR_MS = 3_600_000;

/** The limit that applies in this hour; undefined if there is none. */
export function numberLimit(terms: {
  /** What is counted and for whom; never text from outside. */
  readonly scope: string;
  /** A digest of the customer's number. */
  readonly numberDigest: string;
  readonly max: number;
  readonly nowMs: number;
}): NumberLimit | undefined {
  if (terms.max >= UNCOUNTED_FROM) return undefined;
  const hour = Math.floor(terms.nowMs / HOUR_MS);
  const endsAtMs = (hour + 1) * HOUR_MS;
  return {
    id: `${terms.scope}:${terms.numberDigest}:${hour}`,
    max: terms.max,
    retryAfterSeconds: Math.ceil((endsAtMs - terms.nowMs) / 1_000),
    forgetAtMs: endsAtMs + HOUR_MS,
  };
}

/** A count before and after a transaction. */
export interface CountChange {
  readonly limit: NumberLimit;
  readonly before: number;
  readonly after: number;
}

/** Counts what happens in a transaction, on top of the counts before it. */
export interface CountBook {
  /** Adds one to each limit. If one of them is used up, it counts nothing and gives the first such limit. */
  readonly countOne: (limits: readonly NumberLimit[]) => NumberLimit | undefined;
  /** Subtracts one from each limit, for something that was counted and did not happen. */
  readonly takeBack: (limits: readonly NumberLimit[]) => void;
  readonly changes: () => readonly CountChange[];
}

/** Opens a {@link CountBook} over the counts by id; an absent one is zero. */
export function openCountBook(countedBefore: ReadonlyMap<string, number>): CountBook {
  const changes = new Map<string, CountChange>();
  const countOf = ({ id }: NumberLimit) => changes.get(id)?.after ?? countedBefore.get(id) ?? 0;
  const set = (limit: NumberLimit, after: number) =>
    changes.set(limit.id, { limit, before: countedBefore.get(limit.id) ?? 0, after });
  return {
    countOne: (limits) => {
      const full = limits.find((limit) => countOf(limit) >= limit.max);
      if (full) return full;
      for (const limit of limits) set(limit, countOf(limit) + 1);
      return undefined;
    },
    takeBack: (limits) => {
      // The count of an hour that was deleted meanwhile is zero.
      for (const limit of limits) if (countOf(limit) > 0) set(limit, countOf(limit) - 1);
    },
    changes: () => [...changes.values()].filter(({ before, after }) => before !== after),
  };
}

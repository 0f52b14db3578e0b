/** How often something may be done for one customer's number within an hour, by the UTC clock. */
export interface NumberLimit {
  /** What is counted, for whom, in which hour; holds no number in clear. */
  readonly id: string;
  readonly max: number;
  /** Until the next hour begins. */
  readonly retryAfterSeconds: number;
  /** After this nobody asks for the hour any more. */
  readonly forgetAtMs: number;
}

/** A limit as high as this is none, and nothing is counted for it. */
export const UNCOUNTED_FROM = 1_000_000;

const HOUR_MS = 3_600_000;

/** The limit that something falls under in this hour, or nothing where there is none. */
export function numberLimit(terms: {
  /** What is counted and for whom; never text of strangers. */
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

/** How often something was counted before, and is after. */
export interface CountChange {
  readonly limit: NumberLimit;
  readonly before: number;
  readonly after: number;
}

/** Counts what happens in a transaction against what the hours held before it. */
export interface CountBook {
  /** Counts one more in each limit; where one has no room for it, counts nothing and gives the first such one. */
  readonly countOne: (limits: readonly NumberLimit[]) => NumberLimit | undefined;
  /** Takes back one of each limit, for what was counted and did not happen. */
  readonly takeBack: (limits: readonly NumberLimit[]) => void;
  readonly changes: () => readonly CountChange[];
}

/** Opens a {@link CountBook} over what the hours held, by id; an absent one held nothing. */
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
      // An hour that is forgotten by now holds nothing.
      for (const limit of limits) if (countOf(limit) > 0) set(limit, countOf(limit) - 1);
    },
    changes: () => [...changes.values()].filter(({ before, after }) => before !== after),
  };
}

/** A limit on how often something may be done for one customer's number within an hour, by the UTC clock. */
export interface NumberLimit {
  /** What is counted, for whom, in which hour; does not contain the number itself. */
  readonly id: string;
  readonly max: bigint;
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
    max: BigInt(terms.max),
    retryAfterSeconds: Math.ceil((endsAtMs - terms.nowMs) / 1_000),
    forgetAtMs: endsAtMs + HOUR_MS,
  };
}

import type { ClientSession, WithId } from 'mongodb';
import { CLOCK_SKEW_MAX_MS } from '../database/clock-guard.ts';
import type { Transaction } from '../outbox/outbox.ts';
import type { Claimable, ClaimRules } from './claim.ts';

/** The records that a transaction is about to write, in order: one key for each. */
export interface BirthRequest {
  /** Records share a key where they share a limit. */
  readonly keys: readonly string[];
  /** How many more records of a key there is room for; if left out, only the loop's own room counts. */
  readonly roomOf?: (key: string) => number;
}

/** A claim on records that a transaction writes. */
export interface BirthClaim<Record extends Claimable> {
  /** For each requested record, in order, whether it is written with the claim; if not, it is written due. */
  readonly granted: readonly boolean[];
  /** The fields of the records that are written with the claim. */
  readonly fields: { readonly claim: string; readonly dueAt: Date };
  /** Begins the work on the records that were written with the claim, once the transaction has committed. */
  readonly begin: (records: readonly WithId<Record>[]) => void;
}

/** Claims records for this process as a transaction writes them; called once by each run of the transaction. */
export type ClaimAtBirth<Record extends Claimable> = (
  transaction: Pick<Transaction, 'session' | 'afterCommit'>,
  request: BirthRequest,
) => Promise<BirthClaim<Record>>;

/** The claims at birth of a loop, and how many places of the loop open transactions have reserved. */
export interface BirthClaims<Record extends Claimable> {
  readonly claimAtBirth: ClaimAtBirth<Record>;
  readonly reserved: () => number;
}

/**
 * Builds {@link BirthClaims}. Places are reserved from before the write until the work begins, or until the transaction
 * reruns or its session has ended without a commit.
 *
 * The lease counts from before the write, by our own clock, and is longer by as much as that may be behind the
 * database's: measured from `claimedAtMs`, it never runs out early.
 */
export function createBirthClaims<Record extends Claimable>(
  rules: Pick<ClaimRules<Record>, 'clock' | 'ids' | 'leaseMs' | 'rateLimit'>,
  loop: {
    readonly roomLeft: () => number;
    readonly begin: (record: WithId<Record>, claim: string, claimedAtMs: number) => void;
  },
): BirthClaims<Record> {
  const { rateLimit } = rules;
  const reservations = createReservations();
  const claimAtBirth: ClaimAtBirth<Record> = async ({ session, afterCommit }, { keys, roomOf }) => {
    const claim = rules.ids.next('cm');
    const claimedAtMs = rules.clock.nowMs();
    let unused = 0;
    const reservation = reservations.open(session, () => {
      // Lost tokens only slow us down.
      if (unused > 0) rateLimit?.giveBack(unused).catch(() => undefined);
    });
    const fitting = keys.map((key) => {
      const fits = loop.roomLeft() > 0 && (roomOf === undefined || roomOf(key) > reservations.count(key));
      if (fits) reservation.add(key);
      return fits;
    });
    const wanted = fitting.filter(Boolean).length;
    unused = rateLimit && wanted > 0 ? await rateLimit.take(wanted) : wanted;
    let left = unused;
    return {
      granted: fitting.map((fits) => fits && left-- > 0),
      fields: { claim, dueAt: new Date(claimedAtMs + rules.leaseMs + CLOCK_SKEW_MAX_MS) },
      begin: (records) =>
        afterCommit(() => {
          unused -= records.length;
          reservation.end();
          for (const record of records) loop.begin(record, claim, claimedAtMs);
        }),
    };
  };
  return { claimAtBirth, reserved: () => reservations.count() };
}

interface Reservation {
  readonly add: (key: string) => void;
  readonly end: () => void;
}

/** The places that transactions have reserved, counted in all and by key; one reservation for each session. */
function createReservations() {
  const ofSessions = new WeakMap<ClientSession, Reservation>();
  const counts = new Map<string, number>();
  let total = 0;
  const change = (key: string, by: 1 | -1) => {
    total += by;
    const count = (counts.get(key) ?? 0) + by;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    count: (key?: string) => (key === undefined ? total : (counts.get(key) ?? 0)),
    open: (session: ClientSession, ended: () => void): Reservation => {
      const earlier = ofSessions.get(session);
      earlier?.end();
      // Actions after a commit run before the next turn of the event loop, and end the reservation themselves.
      if (!earlier) session.once('ended', () => setImmediate(() => ofSessions.get(session)?.end()));
      const keys: string[] = [];
      let isOpen = true;
      const reservation = {
        add: (key: string) => {
          keys.push(key);
          change(key, 1);
        },
        end: () => {
          if (!isOpen) return;
          isOpen = false;
          for (const key of keys) change(key, -1);
          ended();
        },
      };
      ofSessions.set(session, reservation);
      return reservation;
    },
  };
}

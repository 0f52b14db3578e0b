import type { WithId } from 'mongodb';
import { CLOCK_SKEW_MAX_MS } from '../database/clock-guard.ts';
import type { Transaction } from '../outbox/outbox.ts';
import { type Claimable, type ClaimRateLimit, type ClaimRules, releaseClaims } from './claim.ts';

/** The records that a transaction is about to write, in order: one key for each. */
export interface WriteClaimRequest {
  /** Records share a key where they share a limit. */
  readonly keys: readonly string[];
  /** How many more records of a key there is room for; if left out, only the loop's own room counts. */
  readonly roomOf?: (key: string) => number;
}

/** A claim on records that a transaction writes. */
export interface WriteClaim<One extends Claimable> {
  /** For each requested record, in order, whether it is written with the claim; if not, it is written due. */
  readonly granted: readonly boolean[];
  /** The fields of the records that are written with the claim. */
  readonly fields: { readonly claim: string; readonly dueAt: Date };
  /** Begins the work on the records that were written with the claim, once the transaction has committed. */
  readonly begin: (records: readonly WithId<One>[]) => void;
}

/** The token of a claim on write, and the earliest time by our own clock at which it can have been made. */
interface WriteClaimToken {
  readonly claim: string;
  readonly claimedAtMs: number;
}

/** Claims records for this process as a transaction writes them; called in each run of the transaction. */
export type ClaimOnWrite<One extends Claimable> = (
  transaction: Pick<Transaction, 'afterCommit' | 'afterRollback'>,
  request: WriteClaimRequest,
) => WriteClaim<One>;

/** The claims on write of a loop, and how many places of the loop open transactions have reserved. */
export interface WriteClaims<One extends Claimable> {
  readonly claimOnWrite: ClaimOnWrite<One>;
  readonly reserved: () => number;
  /** Whether records wait for tokens of the rate limit: they come before any that are claimed on write. */
  readonly setRateLimited: (are: boolean) => void;
}

/**
 * Builds {@link WriteClaims}. Places are reserved from before the write until the work begins, or until that run of the
 * transaction has left nothing behind.
 *
 * The lease counts from before the write, by our own clock, and is longer by as much as that may be behind the
 * database's: measured from `claimedAtMs`, it never runs out early.
 */
export function createWriteClaims<One extends Claimable>(
  rules: ClaimRules<One>,
  loop: {
    readonly begin: (record: WithId<One>, claim: string, claimedAtMs: number) => void;
    readonly track: (work: Promise<void>) => void;
    readonly roomLeft: () => number;
  },
): WriteClaims<One> {
  const { rateLimit } = rules;
  let isRateLimited = false;
  /** Begins the work as far as there are tokens for it; the other records are due. */
  const beginLimited = async (
    limit: ClaimRateLimit,
    records: readonly WithId<One>[],
    token: WriteClaimToken,
  ) => {
    const { count, at } = await limit.take(records.length);
    const stamped = rules.claimTimeField !== undefined && { [rules.claimTimeField]: at };
    for (const record of records.slice(0, count))
      loop.begin({ ...record, ...stamped }, token.claim, token.claimedAtMs);
    isRateLimited = count < records.length;
    rules.claimed?.(count, isRateLimited);
    const others = records.slice(count).map(({ _id }) => _id);
    if (others.length > 0) await releaseClaims(rules, others, token.claim);
  };
  const begin = (records: readonly WithId<One>[], token: WriteClaimToken, release: () => void): void => {
    if (rateLimit && records.length > 0)
      return loop.track(beginLimited(rateLimit, records, token).finally(release));
    release();
    for (const record of records) loop.begin(record, token.claim, token.claimedAtMs);
  };
  const roomLeft = () => (rateLimit && isRateLimited ? 0 : loop.roomLeft());
  const reserved = createCounts();
  const claimOnWrite: ClaimOnWrite<One> = ({ afterCommit, afterRollback }, { keys, roomOf }) => {
    const claim = rules.ids.next('cm');
    const claimedAtMs = rules.clock.nowMs();
    const held: string[] = [];
    let begun: readonly WithId<One>[] = [];
    const release = () => {
      for (const key of held) reserved.add(key, -1);
    };
    afterRollback(release);
    afterCommit(() => begin(begun, { claim, claimedAtMs }, release));
    const granted = keys.map((key) => {
      const fits = roomLeft() > 0 && (roomOf === undefined || roomOf(key) > reserved.of(key));
      if (fits) {
        held.push(key);
        reserved.add(key, 1);
      }
      return fits;
    });
    return {
      granted,
      fields: { claim, dueAt: new Date(claimedAtMs + rules.leaseMs + CLOCK_SKEW_MAX_MS) },
      begin: (records) => {
        begun = records;
      },
    };
  };
  return {
    claimOnWrite,
    reserved: reserved.all,
    setRateLimited: (are) => {
      isRateLimited = are;
    },
  };
}

/** Counts by key, and of all keys together. */
function createCounts() {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    all: () => all,
    of: (key: string) => counts.get(key) ?? 0,
    add: (key: string, by: 1 | -1): void => {
      all += by;
      const count = (counts.get(key) ?? 0) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}

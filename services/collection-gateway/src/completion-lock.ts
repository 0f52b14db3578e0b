import type { Clock } from '@pesewa/kernel';
import type { GroupCommit } from '@pesewa/messaging';
import { mayStillCall } from '@pesewa/rails';
import type { AnswerDeadline } from './answer-deadline.ts';
import type { Applied, CausedCommand, Collections } from './collections.ts';
import type { NumberLimit } from './domain/limits.ts';
import type { Collection } from './store.ts';

/** What a completion passes to get the lock of its collection. */
export interface LockRequest {
  readonly collection: Collection;
  readonly limits: readonly NumberLimit[];
  /** How long the lock lasts if its holder dies. */
  readonly leaseMs: number;
  /** Until when its answer may wait, in milliseconds since the epoch. */
  readonly deadlineAtMs: number;
}

/** The result of waiting for the lock. */
export interface CompletionLock {
  /** When the lock was last requested, or refused. */
  readonly requestedAtMs: number;
  /** Whether it had to wait for another completion. */
  readonly waited: boolean;
  /** Undefined if the try is not known to be committed, or was given back for good: then no call may follow. */
  readonly applied: Applied | undefined;
}

interface LockDeps {
  readonly intents: GroupCommit<CausedCommand, Applied | undefined>;
  readonly collections: Pick<Collections, 'find' | 'recordOutcome'>;
  readonly answerDeadline: Pick<AnswerDeadline, 'within' | 'deadlineMs'>;
  readonly clock: Clock;
  /** Aborted when we close: then no completion waits any more or gets the lock. */
  readonly closing: AbortSignal;
}

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 400;

/**
 * How much of its deadline a completion must have left to take the lock; with less, its answer could not wait for the
 * rail's.
 */
const LEFT_MIN_MS = 3_000;

/** A try that was committed, but too late for its call, and was given back with everything it counted. */
const GIVEN_BACK = 'given back';

/**
 * Commits the try and takes the collection's lease; waits for the present holder of the lease, over all replicas
 * (contract 4.8).
 *
 * A lease whose commit took so long that it might end before its call does is given back, and taken anew. If too little
 * of the deadline is left for the rail's answer, the refusal is `collection.completion_under_way`, or `applied` is
 * undefined.
 */
export async function takeCompletionLock(deps: LockDeps, request: LockRequest): Promise<CompletionLock> {
  const leftMinMs = Math.min(LEFT_MIN_MS, deps.answerDeadline.deadlineMs / 3);
  const isLate = () => deps.closing.aborted || request.deadlineAtMs - deps.clock.nowMs() < leftMinMs;
  let applied: Applied | undefined;
  for (let waited = false; ; waited = true) {
    const requestedAtMs = deps.clock.nowMs();
    if (isLate()) return { requestedAtMs, waited, applied };
    const leftMs = request.deadlineAtMs - requestedAtMs;
    const isUseless = () => isLate() || !mayStillCall(requestedAtMs, deps.clock.nowMs());
    const tried = await deps.answerDeadline.within(
      commitTry(deps, request, requestedAtMs, isUseless),
      leftMs,
    );
    if (tried === GIVEN_BACK) {
      applied = undefined;
      continue;
    }
    applied = tried;
    const lock = { requestedAtMs, waited, applied };
    if (applied?.refusal !== 'collection.completion_under_way') return lock;
    if (!(await leaseEnds(deps, applied.collection, isLate))) return lock;
  }
}

/** Commits a try with its lease; gives it back if it was committed too late to be used. */
async function commitTry(
  { intents, collections }: LockDeps,
  { collection: { reference }, limits, leaseMs }: LockRequest,
  requestedAtMs: number,
  isUseless: () => boolean,
): Promise<Applied | typeof GIVEN_BACK | undefined> {
  const command = { kind: 'requestCompletion', nowMs: requestedAtMs, leaseMs } as const;
  const applied = await intents.submit({ reference, causationId: null, command, limits });
  if (!applied || applied.refusal !== null || !isUseless()) return applied;
  const { version: token } = applied.collection;
  const returned = { kind: 'recordCompletion', token, outcome: 'notSent' } as const;
  await collections.recordOutcome({ reference, causationId: null, command: returned, counted: limits });
  return GIVEN_BACK;
}

/** Waits until the current lease has ended, in whatever way; false if that is too late. */
async function leaseEnds(
  { collections, clock, closing }: LockDeps,
  { merchantId, reference, completionLease: lease }: Collection,
  isLate: () => boolean,
): Promise<boolean> {
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
    if (isLate()) return false;
    await clock.sleep(pauseMs, closing);
    if (lease === null || clock.nowMs() >= lease.untilMs) return true;
    const now = await collections.find(merchantId, reference);
    if (now?.completionLease?.token !== lease.token) return true;
  }
}

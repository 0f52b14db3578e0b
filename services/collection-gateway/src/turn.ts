import type { Clock } from '@pesewa/kernel';
import type { GroupCommit } from '@pesewa/messaging';
import type { Applied, CollectionOrderCommand, Collections } from './collections.ts';
import type { NumberLimit } from './domain/limits.ts';
import type { Collection } from './store.ts';

/** A completion's try to have its turn with the rail. */
export interface TurnRequest {
  readonly collection: Collection;
  readonly limits: readonly NumberLimit[];
  /** How long a turn lasts where its holder dies. */
  readonly leaseMs: number;
  /** Until when its answer may wait, in milliseconds since the epoch. */
  readonly deadlineAtMs: number;
}

/** What came of waiting for a turn. */
export interface Turn {
  /** When the turn was asked for, or refused, for the last time. */
  readonly requestedAtMs: number;
  /** Whether another completion was waited for. */
  readonly waited: boolean;
  readonly applied: Applied | undefined;
}

interface TurnDeps {
  readonly intents: GroupCommit<CollectionOrderCommand, Applied | undefined>;
  readonly collections: Pick<Collections, 'find'>;
  readonly clock: Clock;
}

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 400;

/**
 * Commits the try and takes the collection's lease, waiting for whoever has it, over all replicas (contract 4.8).
 *
 * Once the deadline has passed, the refusal is `collection.completion_under_way`.
 */
export async function takeTurn(deps: TurnDeps, request: TurnRequest): Promise<Turn> {
  const { reference } = request.collection;
  for (let waited = false; ; waited = true) {
    const requestedAtMs = deps.clock.nowMs();
    const command = { kind: 'requestCompletion', nowMs: requestedAtMs, leaseMs: request.leaseMs } as const;
    const { limits } = request;
    const applied = await deps.intents.submit({ reference, causationId: null, command, limits });
    const turn = { requestedAtMs, waited, applied };
    if (applied?.refusal !== 'collection.completion_under_way') return turn;
    if (!(await leaseEnds(deps, applied.collection, request.deadlineAtMs))) return turn;
  }
}

/** Waits until the lease that is seen has ended, one way or another; tells false where it outlasts the deadline. */
async function leaseEnds(
  { collections, clock }: TurnDeps,
  { merchantId, reference, completionLease: lease }: Collection,
  deadlineAtMs: number,
): Promise<boolean> {
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
    const leftMs = deadlineAtMs - clock.nowMs();
    if (leftMs <= 0) return false;
    await clock.sleep(Math.min(pauseMs, leftMs));
    if (lease === null || clock.nowMs() >= lease.untilMs) return true;
    const now = await collections.find(merchantId, reference);
    if (now?.completionLease?.turn !== lease.turn) return true;
  }
}

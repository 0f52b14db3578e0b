import { DAY_MS } from '@pesewa/kernel';

/** How an endpoint does: it fails from its first failure on until a success, is then warned, and at last disabled. */
export type HealthState = 'healthy' | 'failing' | 'warned' | 'disabled';

/** The health of an endpoint. */
export interface Health {
  readonly state: HealthState;
  /** Which address of the merchant's own is meant; null for an endpoint that is named by its origin. */
  readonly address: string | null;
  /** When the first attempt of those that failed since the last success began; null while it is healthy. */
  readonly failingSinceMs: number | null;
  /** The last failure that was recorded: at most one in {@link RECORD_EVERY_MS}. */
  readonly lastFailureAtMs: number | null;
  readonly lastSuccessAtMs: number | null;
}

/** An attempt at an endpoint that has ended. */
export interface Observation {
  readonly isDelivered: boolean;
  /** When it began, as its delivery records it. */
  readonly atMs: number;
  readonly address: string | null;
  /** The last success that this process knows of. */
  readonly lastSuccessAtMs: number | null;
}

/** After how long without any success an endpoint is warned, and disabled. */
export interface HealthLimits {
  readonly warnAfterMs: number;
  readonly disableAfterMs: number;
}

/** Another failure in the same state is recorded so long after the last one. */
export const RECORD_EVERY_MS = 3_600_000;
/**
 * After so long without a failure the next one begins anew: an endpoint that is hardly ever tried is not disabled by two
 * failures weeks apart. It is longer than any pause between two attempts.
 */
export const FORGIVEN_AFTER_MS = 2 * DAY_MS;

/**
 * The health after an attempt, undefined if nothing changes that is recorded. A disabled endpoint stays so, whatever
 * attempts show that were under way; and it is never disabled before it was warned.
 */
export function observe(
  health: Health | undefined,
  attempt: Observation,
  limits: HealthLimits,
): Health | undefined {
  if (health?.state === 'disabled') return undefined;
  const { atMs, address } = attempt;
  if (attempt.isDelivered) {
    if (!health || health.failingSinceMs === null || health.failingSinceMs > atMs) return undefined;
    return healthyAgain({ ...health, address }, atMs);
  }
  if (!isSamePeriod(health, attempt)) {
    const lastSuccessAtMs = attempt.lastSuccessAtMs ?? health?.lastSuccessAtMs ?? null;
    return { state: 'failing', address, failingSinceMs: atMs, lastFailureAtMs: atMs, lastSuccessAtMs };
  }
  // Of attempts under way together, the one that began first may fail last.
  if (atMs < health.failingSinceMs) return { ...health, failingSinceMs: atMs };
  const state = stateAfter(health.state, atMs - health.failingSinceMs, limits);
  if (state === health.state && atMs - health.lastFailureAtMs < RECORD_EVERY_MS) return undefined;
  return { ...health, state, lastFailureAtMs: atMs };
}

/** The health of an endpoint that has just had a success, or that was enabled. */
export function healthyAgain(health: Health, successAtMs: number | null): Health {
  return {
    ...health,
    state: 'healthy',
    failingSinceMs: null,
    lastFailureAtMs: null,
    lastSuccessAtMs: successAtMs ?? health.lastSuccessAtMs,
  };
}

type Failing = Health & { readonly failingSinceMs: number; readonly lastFailureAtMs: number };

function isSamePeriod(health: Health | undefined, { atMs, address }: Observation): health is Failing {
  if (!health || health.failingSinceMs === null || health.lastFailureAtMs === null) return false;
  return health.address === address && atMs - health.lastFailureAtMs <= FORGIVEN_AFTER_MS;
}

function stateAfter(state: HealthState, failingMs: number, limits: HealthLimits): HealthState {
  if (state === 'warned') return failingMs >= limits.disableAfterMs ? 'disabled' : 'warned';
  return failingMs >= limits.warnAfterMs ? 'warned' : 'failing';
}

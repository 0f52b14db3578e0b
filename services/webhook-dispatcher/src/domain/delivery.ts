import { unreachable } from '@pesewa/kernel';

/** The subject of a webhook: a kind of payment and how it ended. */
export type DeliveryKind =
  | 'payout-completed'
  | 'payout-failed'
  | 'payout-reversed'
  | 'collection-completed'
  | 'collection-failed';

/**
 * `deferred`: its endpoint is disabled, and it is sent once that is enabled. `exhausted`: given up, until an operator resends it.
 * `discarded`: the merchant has no address for it.
 */
export type DeliveryState = 'pending' | 'deferred' | 'delivered' | 'exhausted' | 'discarded';

/** How a delivery has ended. */
export type EndState = Exclude<DeliveryState, 'pending' | 'deferred'>;

/**
 * Why an attempt got no answer (contract 10.15). `refused`: the address is one that we never call, as it is written.
 * `not_public`: its name led to an address that is not public; the name server may have been wrong for a while.
 */
export type AttemptError =
  | 'refused'
  | 'not_public'
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'malformed';

/** The result of one attempt; `retryAfterMs` is the endpoint's Retry-After, counted from the answer. */
export type AttemptResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | null }
  | { readonly kind: 'failed'; readonly error: AttemptError };

/** What happens to a delivery after an attempt. */
export type NextStep =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly dueAtMs: number }
  | { readonly kind: 'exhausted'; readonly reason: string };

/** The pauses after the first, second, … attempt: about three days in all (contract 10.15). */
export const retryDelaysMs: readonly number[] = [
  5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000,
  86_400_000,
];

const JITTER = 0.2;
const RETRY_AFTER_MS_MAX = 86_400_000;
const GONE = 410;

/** Decides what follows an attempt; `attemptsBefore` counts those since the delivery was created or last resent. */
export function decideNext(attempt: {
  readonly result: AttemptResult;
  readonly attemptsBefore: number;
  readonly delaysMs: readonly number[];
  readonly nowMs: number;
  /** A random number in [0, 1), which spreads retries by a fifth to either side. */
  readonly chance: number;
}): NextStep {
  const { result } = attempt;
  switch (result.kind) {
    case 'answered':
      if (result.status >= 200 && result.status < 300) return { kind: 'delivered' };
      if (result.status === GONE) return { kind: 'exhausted', reason: 'the endpoint is gone (410)' };
      return retryOrGiveUp(attempt, result.retryAfterMs ?? 0);
    case 'failed':
      if (result.error === 'refused') return { kind: 'exhausted', reason: 'address refused' };
      return retryOrGiveUp(attempt, 0);
    default:
      return unreachable(result);
  }
}

function retryOrGiveUp(
  attempt: {
    readonly attemptsBefore: number;
    readonly delaysMs: readonly number[];
    readonly nowMs: number;
    readonly chance: number;
  },
  askedMs: number,
): NextStep {
  const delayMs = attempt.delaysMs[attempt.attemptsBefore];
  if (delayMs === undefined) return { kind: 'exhausted', reason: 'every attempt failed' };
  const jittered = Math.round(delayMs * (1 - JITTER + 2 * JITTER * attempt.chance));
  const asked = Math.min(Math.max(askedMs, 0), RETRY_AFTER_MS_MAX);
  return { kind: 'retry', dueAtMs: attempt.nowMs + Math.max(jittered, asked) };
}

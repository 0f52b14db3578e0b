import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import {
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  isBrokenCircuitError,
  isBulkheadRejectedError,
  wrap,
} from 'cockatiel';
import type { NotSent, Unknown } from './connector.ts';
import { type Exchange, ExchangeError, type ExchangeRequest, type ExchangeResponse } from './exchange.ts';
import type { RailSettings } from './settings.ts';
import { createTokenBucket } from './token-bucket.ts';

/** What a guarded exchange came to. */
export type Guarded =
  | { readonly kind: 'answered'; readonly response: ExchangeResponse }
  /** No connection to the rail came about: it certainly has not had the request. */
  | { readonly kind: 'unreached'; readonly why: string }
  | Unknown
  | NotSent;

/** The state of a circuit breaker: `half_open` from when the next request may probe the rail. */
export type Circuit = 'closed' | 'half_open' | 'open';

/** Exchanges within a rail's limits; never throws. */
export interface Guard {
  (request: ExchangeRequest): Promise<Guarded>;
  /** Whether a request would be tried now: the circuit is closed, or has been open so long that it may be probed. */
  readonly isAvailable: () => boolean;
  readonly circuit: () => Circuit;
}

/** How long a call may wait for the rate limit, and again for a slot or a probe of the breaker. */
const WAIT_MS_MAX = 1_000;
const RETRY_AFTER_MS = 1_000;

class WaitError extends Error {
  override readonly name = 'WaitError';
}

/** After this time nothing of a call is under way at the rail; an answer that comes later still is `notSent`. */
export function callDeadlineMs(settings: Pick<RailSettings, 'timeoutMs'>): number {
  return WAIT_MS_MAX * 2 + settings.timeoutMs;
}

/**
 * Puts a rail's rate limit, concurrency limit and circuit breaker around an exchange.
 *
 * Refusals of the guard are `notSent`: they make a payout wait, never fail (ADR 62).
 */
export function createGuard(dependencies: {
  readonly settings: RailSettings;
  readonly clock: Clock;
  readonly exchange: Exchange;
  readonly logger?: Pick<Logger, 'warn' | 'info'> | undefined;
}): Guard {
  const { settings, clock, exchange, logger } = dependencies;
  const bucket = createTokenBucket({
    clock,
    perSecondMax: settings.requestsPerSecondMax,
    waitMsMax: WAIT_MS_MAX,
  });
  const breaker = circuitBreaker(railFailures, {
    halfOpenAfter: settings.breakerOpenMs,
    breaker: new ConsecutiveBreaker(settings.breakerFailures),
  });
  let openedAtMs = 0;
  breaker.onStateChange((state) => {
    if (state === CircuitState.Open) {
      openedAtMs = clock.nowMs();
      logger?.warn({ rail: settings.name }, 'rail circuit opened');
    }
    if (state === CircuitState.Closed) logger?.info({ rail: settings.name }, 'rail circuit closed');
  });
  const slots = bulkhead(settings.concurrencyMax, settings.concurrencyMax);
  const limits = wrap(slots, breaker);

  const guard = async (request: ExchangeRequest): Promise<Guarded> => {
    const calledAtMs = clock.nowMs();
    const turn = bucket.take();
    if (!turn.granted) return notSent('rate limit of the rail', turn.waitMs);
    if (turn.waitMs > 0) await clock.sleep(turn.waitMs);
    try {
      const response = await limits.execute(() => {
        // Counted from the call on: a process may have stood still while it waited for its turn.
        if (clock.nowMs() - calledAtMs > turn.waitMs + WAIT_MS_MAX) throw new WaitError();
        return exchange(request);
      });
      return { kind: 'answered', response };
    } catch (error) {
      if (isBrokenCircuitError(error)) return notSent('circuit open', settings.breakerOpenMs);
      if (isBulkheadRejectedError(error)) return notSent('concurrency limit of the rail', RETRY_AFTER_MS);
      if (error instanceof WaitError) return notSent('waited too long for its turn', RETRY_AFTER_MS);
      if (error instanceof ExchangeError && !error.sent) return { kind: 'unreached', why: error.message };
      // Anything else, a defect of ours included, may have happened after the request left.
      return { kind: 'unknown', why: error instanceof ExchangeError ? error.message : 'network failure' };
    }
  };
  const circuit = (): Circuit => {
    if (breaker.state === CircuitState.Closed) return 'closed';
    const mayProbe =
      breaker.state !== CircuitState.Open || clock.nowMs() - openedAtMs >= settings.breakerOpenMs;
    return mayProbe ? 'half_open' : 'open';
  };
  return Object.assign(guard, { circuit, isAvailable: () => circuit() !== 'open' });
}

function isServerFailure(result: unknown): boolean {
  return (
    typeof result === 'object' &&
    result !== null &&
    'status' in result &&
    typeof result.status === 'number' &&
    result.status >= 500
  );
}

/** What our own bounds refuse says nothing of the rail's health. */
function isOurRefusal(error: unknown): boolean {
  return error instanceof WaitError || (error instanceof ExchangeError && error.answered);
}

const railFailures = handleWhen((error) => !isOurRefusal(error)).orWhenResult(isServerFailure);

function notSent(why: string, retryAfterMs: number): NotSent {
  return { kind: 'notSent', why, retryAfterMs };
}

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
import { WAIT_MS_MAX } from './call-deadlines.ts';
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './http-transport.ts';
import { notSent } from './outcomes.ts';
import type { NotSent, Unknown } from './rail.ts';
import type { CommonSettings } from './settings.ts';
import { createTokenBucket } from './token-bucket.ts';

/** The result of a guarded exchange. */
export type GuardedResponse =
  | { readonly kind: 'answered'; readonly response: TransportResponse }
  /** There was no connection to the rail: the request certainly did not reach it. */
  | { readonly kind: 'unreached'; readonly why: string }
  | Unknown
  | NotSent;

/** The state of a circuit breaker; `half_open` as soon as the next request may probe the rail. */
export type Circuit = 'closed' | 'half_open' | 'open';

/** An exchange within a rail's limits; it never throws. */
export interface Guard {
  (request: TransportRequest): Promise<GuardedResponse>;
  /** Whether a request would be attempted now: the circuit is closed, or has been open long enough for a probe. */
  readonly isAvailable: () => boolean;
  readonly circuit: () => Circuit;
}

const RETRY_AFTER_MS = 1_000;

class WaitError extends Error {
  override readonly name = 'WaitError';
}

/**
 * Puts a rail's rate limit, concurrency limit and circuit breaker around an exchange.
 *
 * What the guard itself refuses is `notSent`: it makes a payout wait and never fail (ADR 62).
 */
export function createGuard(dependencies: {
  readonly settings: CommonSettings;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly logger?: Pick<Logger, 'warn' | 'info'> | undefined;
}): Guard {
  const { settings, clock, transport, logger } = dependencies;
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

  const guard = async (request: TransportRequest): Promise<GuardedResponse> => {
    const calledAtMs = clock.nowMs();
    const turn = bucket.take();
    if (!turn.granted) return notSent('rate limit of the rail', turn.waitMs);
    if (turn.waitMs > 0) await clock.sleep(turn.waitMs);
    try {
      const response = await limits.execute(() => {
        // Measured from the call, because the process may have been suspended while it waited for its turn.
        if (clock.nowMs() - calledAtMs > turn.waitMs + WAIT_MS_MAX) throw new WaitError();
        return transport(request);
      });
      return { kind: 'answered', response };
    } catch (error) {
      if (isBrokenCircuitError(error)) return notSent('circuit open', settings.breakerOpenMs);
      if (isBulkheadRejectedError(error)) return notSent('concurrency limit of the rail', RETRY_AFTER_MS);
      if (error instanceof WaitError) return notSent('waited too long for its turn', RETRY_AFTER_MS);
      if (error instanceof TransportError && !error.sent) return { kind: 'unreached', why: error.message };
      // Any other failure, including a defect of ours, may have happened after the request left.
      return { kind: 'unknown', why: error instanceof TransportError ? error.message : 'network failure' };
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

/** Whether our own limits refused the request, which says nothing about the rail's health. */
function isOurRefusal(error: unknown): boolean {
  return error instanceof WaitError || (error instanceof TransportError && error.answered);
}

const railFailures = handleWhen((error) => !isOurRefusal(error)).orWhenResult(isServerFailure);

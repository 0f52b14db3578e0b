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
} from 'cockatiel';
import { WAIT_MS_MAX } from './call-deadlines.ts';
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './http-transport.ts';
import { type NotSent, notSent, type Unknown } from './rail.ts';
import type { CommonSettings } from './settings.ts';

/** The result of a guarded exchange. */
export type GuardedResponse =
  | { readonly kind: 'answered'; readonly response: TransportResponse }
  /** There was no connection to the rail: the request certainly did not reach it. */
  | { readonly kind: 'unreached'; readonly why: string }
  | Unknown
  | NotSent;

/** The state of a circuit breaker; `half_open` as soon as the next request may probe the rail. */
export type Circuit = 'closed' | 'half_open' | 'open';

/**
 * What a request is for: `payment` moves or follows one, `inquiry` answers a merchant and moves nothing.
 *
 * Inquiries come as fast as merchants ask, so they have a circuit of their own and a share of the rail's limits.
 */
export type RequestClass = 'payment' | 'inquiry';

/** An exchange within a rail's limits; it never throws. */
export interface Guard {
  (request: TransportRequest, requestClass: RequestClass): Promise<GuardedResponse>;
  /** Whether a payment's request would be attempted now: its circuit is closed, or open long enough for a probe. */
  readonly isAvailable: () => boolean;
  /** The circuit of payments. */
  readonly circuit: () => Circuit;
}

const RETRY_AFTER_MS = 1_000;
/** Inquiries have at most one in so many of the rail's requests per second and of its concurrent requests. */
const INQUIRY_SHARE = 4;

class WaitError extends Error {
  override readonly name = 'WaitError';
}

/**
 * Puts a rail's rate limit, concurrency limit and circuit breakers around an exchange.
 *
 * What the guard itself refuses is `notSent`: it makes a payout wait and never fail (ADR 62).
 */
export function createGuard(dependencies: {
  readonly settings: CommonSettings;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly logger?: Pick<Logger, 'warn' | 'info'> | undefined;
}): Guard {
  const { settings, clock, transport } = dependencies;
  const rail = createLimits(settings, clock, 1);
  const inquiries = createLimits(settings, clock, INQUIRY_SHARE);
  const circuits = {
    payment: createCircuit(dependencies, 'payment'),
    inquiry: createCircuit(dependencies, 'inquiry'),
  };

  const guard = async (request: TransportRequest, requestClass: RequestClass): Promise<GuardedResponse> => {
    const calledAtMs = clock.nowMs();
    // An inquiry that its own share refuses takes no turn from payments.
    const limits = requestClass === 'inquiry' ? [inquiries, rail] : [rail];
    let waitMs = 0;
    for (const { bucket } of limits) {
      const turn = bucket.take();
      if (!turn.granted) return notSent('rate limit of the rail', turn.waitMs);
      waitMs = Math.max(waitMs, turn.waitMs);
    }
    if (waitMs > 0) await clock.sleep(waitMs);
    // Measured from the call, because the process may have been suspended while it waited for its turn.
    const stillInTime = () => {
      if (clock.nowMs() - calledAtMs > waitMs + WAIT_MS_MAX) throw new WaitError();
    };
    const exchange = () => {
      // Before the circuit too: thrown by a probe, the error would close it.
      stillInTime();
      return circuits[requestClass].execute(() => {
        stillInTime();
        return transport(request);
      });
    };
    const inTurn = () => rail.slots.execute(exchange);
    try {
      const response = await (requestClass === 'inquiry' ? inquiries.slots.execute(inTurn) : inTurn());
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
  const circuit = circuits.payment.state;
  return Object.assign(guard, { circuit, isAvailable: () => circuit() !== 'open' });
}

/** One in `share` of the rail's rate and concurrency, at least one. */
function createLimits(settings: CommonSettings, clock: Clock, share: number) {
  const concurrencyMax = Math.ceil(settings.concurrencyMax / share);
  return {
    bucket: createTokenBucket({
      clock,
      perSecondMax: settings.requestsPerSecondMax / share,
      waitMsMax: WAIT_MS_MAX,
    }),
    slots: bulkhead(concurrencyMax, concurrencyMax),
  };
}

function createCircuit(
  { settings, clock, logger }: Pick<Parameters<typeof createGuard>[0], 'settings' | 'clock' | 'logger'>,
  requestClass: RequestClass,
) {
  const breaker = circuitBreaker(railFailures, {
    halfOpenAfter: settings.breakerOpenMs,
    breaker: new ConsecutiveBreaker(settings.breakerFailures),
  });
  let openedAtMs = 0;
  breaker.onStateChange((state) => {
    const circuit = { rail: settings.name, requestClass };
    if (state === CircuitState.Open) {
      openedAtMs = clock.nowMs();
      logger?.warn(circuit, 'rail circuit opened');
    }
    if (state === CircuitState.Closed) logger?.info(circuit, 'rail circuit closed');
  });
  return {
    execute: (exchange: () => Promise<TransportResponse>) => breaker.execute(exchange),
    state: (): Circuit => {
      if (breaker.state === CircuitState.Closed) return 'closed';
      const mayProbe =
        breaker.state !== CircuitState.Open || clock.nowMs() - openedAtMs >= settings.breakerOpenMs;
      return mayProbe ? 'half_open' : 'open';
    },
  };
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

/** Whether the error says nothing against the rail: our own limits refused the request, or the rail answered too much. */
function isNoFailure(error: unknown): boolean {
  return error instanceof WaitError || (error instanceof TransportError && error.answered);
}

const railFailures = handleWhen((error) => !isNoFailure(error)).orWhenResult(isServerFailure);

/** A rate limit that lets callers wait for their turn. */
export type TokenBucket = ReturnType<typeof createTokenBucket>;

/** Allows so many turns per second, after an initial burst of at most one second's worth. */
export function createTokenBucket(options: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly perSecondMax: number;
  readonly waitMsMax: number;
}) {
  const burst = Math.max(1, options.perSecondMax);
  let tokens = burst;
  let refilledAtMs = options.clock.nowMs();
  return {
    /** Takes a turn: gives how long to wait for it in milliseconds, or refuses if that exceeds the limit. */
    take: (): { readonly granted: boolean; readonly waitMs: number } => {
      const nowMs = options.clock.nowMs();
      // A clock that was set back adds no tokens and removes none.
      const elapsedMs = Math.max(0, nowMs - refilledAtMs);
      refilledAtMs = nowMs;
      tokens = Math.min(burst, tokens + (elapsedMs * options.perSecondMax) / 1000);
      const waitMs = tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 1000) / options.perSecondMax);
      const granted = waitMs <= options.waitMsMax;
      if (granted) tokens -= 1;
      return { granted, waitMs };
    },
  };
}

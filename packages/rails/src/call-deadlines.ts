import { ConfigError } from '@pesewa/runtime';
import type { RailCapabilities } from './rail.ts';

/** How long a call may wait for the rate limit, and again for a slot or a probe of the breaker. */
export const WAIT_MS_MAX = 1_000;

/** What the ordered end of a process reserves for a call to a rail and the recording of its outcome (ADR 52). */
export const CALL_TIMEOUT_MS = 20_000;

/** What the recording of an outcome may take of it. */
const RECORD_MS = 3_000;

/** The longest `timeoutMs` of a rail: with more, a call could outlast the end of the process that made it. */
export const TIMEOUT_MS_MAX = CALL_TIMEOUT_MS - RECORD_MS - WAIT_MS_MAX * 2;

/** After this time a call has surely ended at the rail; an answer that comes even later is `notSent`. */
export function callDeadlineMs(settings: { readonly timeoutMs: number }): number {
  return WAIT_MS_MAX * 2 + settings.timeoutMs;
}

/** How long after an attempt its call may still begin. */
export const CALL_WITHIN_MS = 2_000;

/**
 * Whether the call of an attempt may still begin. A process that was frozen between claim and call must not act on an
 * old claim, because meanwhile the payment may have been sent again after the rail's NOT FOUND (ADR 5).
 *
 * Both times are by the same clock, in milliseconds since the epoch; the attempt's is from right before it was
 * committed. If the clock was set back since, an old claim looks young; a claim in the future is therefore refused too.
 */
export function mayStillCall(attemptedAtMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - attemptedAtMs) <= CALL_WITHIN_MS;
}

/**
 * The grace time after an attempt, in milliseconds, checked to be longer than any call to these rails.
 *
 * It adds to the configured time as much as a call may begin late, for what lies between that check and the call's
 * first byte. It is measured by the database's clock, which times the claims of attempts and of polls; a caller with an
 * attempt's time from another clock must add the possible difference.
 *
 * Throws ConfigError if a call may take longer: NOT FOUND would then be trusted while an attempt may still be in
 * progress.
 */
export function readResubmitGraceMs(
  config: { readonly RESUBMIT_GRACE_MS: number },
  rails: readonly { readonly capabilities: Pick<RailCapabilities, 'callDeadlineMs'> }[],
): number {
  const graceMs = config.RESUBMIT_GRACE_MS;
  const slowestMs = Math.max(0, ...rails.map(({ capabilities }) => capabilities.callDeadlineMs));
  const leastMs = slowestMs + CALL_WITHIN_MS;
  if (graceMs >= leastMs) return graceMs + CALL_WITHIN_MS;
  throw new ConfigError(
    `RESUBMIT_GRACE_MS is ${graceMs}, which a call to a rail can outlast: set it to at least ${leastMs}, or lower timeoutMs in RAILS`,
  );
}

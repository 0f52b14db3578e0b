import { ConfigError } from '@pesewa/runtime';
import type { RailCapabilities } from './connector.ts';

/** How long after an attempt its call may still begin. */
export const CALL_WITHIN_MS = 2_000;

/**
 * Whether the call of an attempt may still begin: a process that was frozen between claim and call must not act on an
 * old claim, since the rail's NOT FOUND may have sent the payment again meanwhile (ADR 5).
 *
 * Both times are by one and the same clock, in milliseconds since the epoch; the attempt's is the moment before it was
 * committed. A clock that was set back in between makes an old claim look young: one in the future says so.
 */
export function mayStillCall(attemptedAtMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - attemptedAtMs) <= CALL_WITHIN_MS;
}

/**
 * The grace time after an attempt, in milliseconds, once it is sure that no call to these rails outlasts it.
 *
 * It is longer than configured by as much again as a call may begin late, for what lies between that judgement and the
 * call's first byte. It counts by the database's clock, whose are the claim of an attempt and that of a poll; who
 * takes another clock's time for an attempt adds what the two may differ.
 *
 * Throws ConfigError where one can: NOT FOUND would be believed while an attempt may still be under way.
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

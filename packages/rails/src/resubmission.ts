import { ConfigError } from '@pesewa/runtime';
import type { RailCapabilities } from './connector.ts';

/** How long after an attempt is committed its call may still begin, and how far the two clocks of that may differ. */
const CALL_WITHIN_MS = 2_000;

/**
 * Whether the call of an attempt may still begin: a process that was frozen between claim and call must not act on an
 * old claim, since the rail's NOT FOUND may have sent the payment again meanwhile (design 4.3).
 *
 * Times in milliseconds since the epoch, the attempt's by the database, now by our own clock. Where ours is behind, an
 * old claim looks young, and one in the future says that it is: then the call must not begin either.
 */
export function mayStillCall(attemptedAtMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - attemptedAtMs) <= CALL_WITHIN_MS;
}

/**
 * The grace time after an attempt, in milliseconds, once it is sure that no call to these rails outlasts it.
 *
 * It is longer than configured by what a call may begin late behind a clock that is behind. Both of its ends are times
 * of the database's clock (the claim of the attempt, the claim of the poll), so no other clock comes into it.
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

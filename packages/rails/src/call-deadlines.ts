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

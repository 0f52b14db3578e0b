import { ServerError } from '@pesewa/stack';

/** Names of errors after our own timeout. */
const givenUp: ReadonlySet<string> = new Set(['TimeoutError', 'AbortError']);

/**
 * Whether an error leaves the outcome of a request open: it was sent, or an attempt was made, and no complete answer
 * came.
 *
 * Any other error is an unreadable answer or a mistake of our own, which must not pass for a fault of the network.
 */
export function isUnclear(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // `fetch` throws a TypeError with a cause; one of our own code has none.
  return (
    error instanceof ServerError ||
    givenUp.has(error.name) ||
    (error instanceof TypeError && error.cause instanceof Error)
  );
}

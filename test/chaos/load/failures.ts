import { ServerError } from '@pesewa/stack';

/** Names of errors by which a request is given up after our own patience. */
const givenUp: ReadonlySet<string> = new Set(['TimeoutError', 'AbortError']);

/**
 * Whether an error leaves it open what became of a request: it was sent, or tried to be, and no whole answer came.
 *
 * Whatever else goes wrong is an answer that can't be read, or a mistake of our own, which must not pass for bad weather.
 */
export function isUnclear(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // What `fetch` itself throws is a TypeError that has a cause; a slip in our own code has none.
  return (
    error instanceof ServerError ||
    givenUp.has(error.name) ||
    (error instanceof TypeError && error.cause instanceof Error)
  );
}

import { describeProblem, firstProblem } from '@pesewa/contracts';
import type { z } from 'zod';
import type { NotSent, Unknown } from '../connector.ts';

/** When to come back to a rail that is busy and doesn't say for how long. */
export const BUSY_RETRY_MS = 1_000;

/** When to come back to a rail to which there was no connection. */
export const UNREACHED_RETRY_MS = 1_000;

/** When to come back to a rail that refuses our key, which is for people to mend. */
export const REFUSED_KEY_RETRY_MS = 30_000;

/** An outcome that nobody knows. */
export function unknown(why: string): Unknown {
  return { kind: 'unknown', why };
}

/** A request that certainly had no effect. */
export function notSent(why: string, retryAfterMs: number): NotSent {
  return { kind: 'notSent', why, retryAfterMs };
}

/** An answer that doesn't have the shape of the contract decides nothing; names the field, never its value. */
export function malformed(answer: { readonly status: number }, error: z.ZodError): Unknown {
  return unknown(`HTTP ${answer.status}, malformed: ${describeProblem(firstProblem(error))}`);
}

import { describeProblem, firstProblem } from '@pesewa/contracts';
import type { z } from 'zod';
import type { NotSent, Unknown } from './rail.ts';

/** When to retry at a rail that is busy and doesn't say for how long. */
export const BUSY_RETRY_MS = 1_000;

/** When to retry at a rail that could not be connected to. */
export const UNREACHED_RETRY_MS = 1_000;

const OUR_FAULT_RETRY_MS = 30_000;

/** An unknown outcome. */
export function unknown(why: string): Unknown {
  return { kind: 'unknown', why };
}

/** A request that certainly had no effect. */
export function notSent(why: string, retryAfterMs: number): NotSent {
  return { kind: 'notSent', why, retryAfterMs };
}

/** A request that had no effect because the rail refuses us for our key, our funds or our limit. */
export function refusedUs(why: string): NotSent {
  return { ...notSent(why, OUR_FAULT_RETRY_MS), isOurFault: true };
}

/** An answer that doesn't have its documented form decides nothing; the message names the field, never its value. */
export function malformed(answer: { readonly status: number }, error: z.ZodError): Unknown {
  return unknown(`HTTP ${answer.status}, malformed: ${describeProblem(firstProblem(error))}`);
}

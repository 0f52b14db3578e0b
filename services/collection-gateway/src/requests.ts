import { describeProblem, firstProblem } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { readBody } from '@pesewa/merchant-api';
import type { Context } from 'hono';
import type { z } from 'zod';

/** The largest body of a request: larger than one with every field at its full length, in letters of three bytes. */
const BYTES_MAX = 16_384;

/** Reads a request's body by its schema; gives a sentence with the problem if it is invalid. */
export async function readRequestBody<Body>(
  context: Context,
  schema: z.ZodType<Body>,
): Promise<Result<Body, string>> {
  const body = await readBody(context, BYTES_MAX);
  if (typeof body === 'string') return refuse(body);
  const parsed = schema.safeParse(body.value);
  return parsed.success ? accept(parsed.data) : refuse(describeProblem(firstProblem(parsed.error)));
}

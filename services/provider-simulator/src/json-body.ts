import { describeProblem, firstProblem, JsonError, parseJson } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { readJsonText } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { z } from 'zod';

const BODY_BYTES_MAX = 65_536;

/** Reads a JSON body, with numbers as their own texts; a refusal is a sentence about the first problem. */
export async function readJsonBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<Result<z.output<Schema>, string>> {
  const read = await readJsonText(context, BODY_BYTES_MAX);
  if (!read.ok) return refuse('the body must be JSON of at most 64 KiB');
  try {
    const parsed = schema.safeParse(parseJson(read.value));
    return parsed.success ? accept(parsed.data) : refuse(describeProblem(firstProblem(parsed.error)));
  } catch (error) {
    if (error instanceof JsonError) return refuse('the body must be JSON');
    throw error;
  }
}

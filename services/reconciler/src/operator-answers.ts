import { describeProblem, firstProblem, JsonError, parseJson } from '@pesewa/contracts';
import type { Result } from '@pesewa/kernel';
import { answerJson, readJsonText } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { z } from 'zod';

const BODY_BYTES_MAX = 4_096;

const bodyProblems = {
  'body.too_large': `the body must have at most ${BODY_BYTES_MAX} bytes`,
  'body.not_json': 'Content-Type must be application/json',
  'body.not_utf8': 'the body must be UTF-8',
} as const;

/** A refusal of an operator's request (design 1). */
export function refused(
  context: Context,
  status: 400 | 403 | 404 | 409 | 422 | 500,
  code: string,
  message: string,
): Response {
  return answerJson(context, status, { code, message });
}

/** Reads a body: 400 for what is no JSON, 422 for a field that can't be accepted, which the message names. */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<Result<z.output<Schema>, Response>> {
  const refusal = (status: 400 | 422, code: string, message: string) =>
    ({ ok: false, refusal: refused(context, status, code, message) }) as const;
  const body = await readJsonText(context, BODY_BYTES_MAX);
  if (!body.ok) return refusal(400, 'malformed', bodyProblems[body.refusal]);
  try {
    const parsed = schema.safeParse(parseJson(body.text));
    if (parsed.success) return { ok: true, value: parsed.data };
    return refusal(422, 'invalid', describeProblem(firstProblem(parsed.error)));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return refusal(400, 'malformed', 'the body must be well-formed JSON, each key once');
  }
}

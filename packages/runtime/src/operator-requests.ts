import { describeProblem, firstProblem, JsonError, parseJson } from '@pesewa/contracts';
import type { Result } from '@pesewa/kernel';
import type { Context } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { answerJson, readJsonText } from './http.ts';

const BODY_BYTES_MAX = 4_096;

const bodyProblems = {
  'body.too_large': `the body must have at most ${BODY_BYTES_MAX} bytes`,
  'body.not_json': 'Content-Type must be application/json',
  'body.not_utf8': 'the body must be UTF-8',
} as const;

/** A refusal of an operator's request (ADR 60). */
export function refuseOperator(
  context: Pick<Context, 'newResponse'>,
  status: StatusCode,
  code: string,
  message: string,
): Response {
  return answerJson(context, status, { code, message });
}

/**
 * Reads the query of an operator's request; an invalid one is answered with 400 `invalid` and a message that names the
 * field.
 */
export function readOperatorQuery<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Result<z.output<Schema>, Response> {
  const parsed = schema.safeParse(context.req.query());
  if (parsed.success) return { ok: true, value: parsed.data };
  const { path, message } = firstProblem(parsed.error);
  const known = /^(?:must |is required)/.test(message) ? `${path} ${message}`.trim() : message;
  const said = known.startsWith(path) ? known : `not understood: ${path}`;
  return { ok: false, refusal: refuseOperator(context, 400, 'invalid', said) };
}

/**
 * Reads the body of an operator's request; an invalid one is answered with 400 `invalid` and a message that names the
 * field.
 */
export async function readOperatorBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<Result<z.output<Schema>, Response>> {
  const invalid = (message: string) =>
    ({ ok: false, refusal: refuseOperator(context, 400, 'invalid', message) }) as const;
  // A body that may be left out is absent if the request has no type of one.
  if (context.req.header('content-type') === undefined && schema.safeParse(undefined).success)
    return { ok: true, value: schema.parse(undefined) };
  const body = await readJsonText(context, BODY_BYTES_MAX);
  if (!body.ok) return invalid(bodyProblems[body.refusal]);
  try {
    const parsed = schema.safeParse(parseJson(body.text));
    return parsed.success
      ? { ok: true, value: parsed.data }
      : invalid(describeProblem(firstProblem(parsed.error)));
  } catch (error) {
    if (error instanceof JsonError) return invalid('the body must be well-formed JSON, each key once');
    throw error;
  }
}

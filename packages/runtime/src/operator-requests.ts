import { firstProblem } from '@pesewa/contracts';
import type { Result } from '@pesewa/kernel';
import type { Context } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { readJsonBody } from './bodies.ts';
import { answerJson } from './http.ts';

const BODY_BYTES_MAX = 4_096;

/** A refusal of an operator's request (ADR 60). */
export function operatorRefusal(
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
  return { ok: false, refusal: operatorRefusal(context, 400, 'invalid', said) };
}

/**
 * Reads the body of an operator's request; an invalid one is answered with 400 `invalid` and a message that names the
 * field.
 */
export async function readOperatorBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<Result<z.output<Schema>, Response>> {
  // A body that may be left out is absent if the request has no type of one.
  if (context.req.header('content-type') === undefined && schema.safeParse(undefined).success)
    return { ok: true, value: schema.parse(undefined) };
  const body = await readJsonBody(context, schema, BODY_BYTES_MAX);
  return body.ok ? body : { ok: false, refusal: operatorRefusal(context, 400, 'invalid', body.refusal) };
}

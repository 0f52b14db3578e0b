import { describeProblem, firstProblem, JsonError, parseJson } from '@pesewa/contracts';
import type { Result } from '@pesewa/kernel';
import type { Context } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
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

/** Builds a function that answers the refusals of some routes: each with its status, code and message. */
export function refuserOf<Refusal extends string>(
  answers: Readonly<Record<Refusal, readonly [StatusCode, string, string]>>,
): (context: Context, refusal: Refusal) => Response {
  return (context, refusal) => {
    const [status, code, message] = answers[refusal];
    return refuseOperator(context, status, code, message);
  };
}

/** The item after which the next page of a list begins; lists show the newest first. */
export interface PageCursor {
  readonly atMs: number;
  readonly id: string;
}

/** A cursor as text; {@link pageCursor} reads it. */
export function formatPageCursor({ atMs, id }: PageCursor): string {
  return `${atMs}.${id}`;
}

/** The parameter `cursor` of a list. */
export const pageCursor = z
  .string()
  .max(300)
  .transform((text, context): PageCursor => {
    const [, at, id] = /^(\d{1,15})\.(.+)$/s.exec(text) ?? [];
    if (at !== undefined && id !== undefined) return { atMs: Number(at), id };
    context.addIssue({ code: 'custom', message: 'is no cursor of this list' });
    return z.NEVER;
  });

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
  const known = message.startsWith('must be') ? `${path} ${message}` : message;
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

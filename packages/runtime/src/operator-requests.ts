import { firstProblem, type Operation } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import type { Context } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { checkBody, readJson } from './bodies.ts';
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

/** An operator's request: as it came, as far as it can be read, and by the schemas of its operation. */
export interface OperatorRequest {
  readonly raw: RequestParts;
  /** If it is invalid, the answer: 400 `invalid` and a message that names the field. */
  readonly read: Result<RequestParts, Response>;
}

interface RequestParts {
  readonly query: unknown;
  readonly body: unknown;
}

/** Reads an operator's request; one whose query is invalid has no other problem. */
export async function readOperatorRequest(
  context: Context,
  { query: querySchema, body: bodySchema }: Pick<Operation, 'query' | 'body'>,
): Promise<OperatorRequest> {
  // A body that may be left out is absent if the request has no type of one.
  const isAbsent =
    context.req.header('content-type') === undefined && bodySchema?.safeParse(undefined).success;
  const json = bodySchema && !isAbsent ? await readJson(context, BODY_BYTES_MAX) : accept(undefined);
  const raw = { query: context.req.query(), body: json.ok ? json.value : undefined };
  const query = querySchema ? checkQuery(querySchema, raw.query) : accept(undefined);
  const body = json.ok && bodySchema ? checkBody(bodySchema, json.value) : json;
  const read = !query.ok ? query : body.ok ? accept({ query: query.value, body: body.value }) : body;
  return { raw, read: read.ok ? read : refuse(operatorRefusal(context, 400, 'invalid', read.refusal)) };
}

function checkQuery(schema: z.ZodType, query: Readonly<Record<string, string>>): Result<unknown, string> {
  const parsed = schema.safeParse(query);
  if (parsed.success) return accept(parsed.data);
  const { path, message } = firstProblem(parsed.error);
  const known = /^(?:must |is required)/.test(message) ? `${path} ${message}`.trim() : message;
  return refuse(known.startsWith(path) ? known : `not understood: ${path}`);
}

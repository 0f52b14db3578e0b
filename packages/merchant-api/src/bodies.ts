import { describeProblem, firstProblem, JsonError, parseJson } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { readJsonText } from '@pesewa/runtime';
import type { z } from 'zod';

/** The text of a request's JSON body, or the sentence that says what is wrong with it. */
export async function readText(
  context: Parameters<typeof readJsonText>[0],
  bytesMax: number,
): Promise<{ readonly text: string } | string> {
  const body = await readJsonText(context, bytesMax);
  if (body.ok) return body;
  return {
    'body.too_large': `the body must have at most ${bytesMax} bytes`,
    'body.not_json': 'Content-Type must be application/json',
    'body.not_utf8': 'the body must be UTF-8',
  }[body.refusal];
}

/** A request's body as lossless JSON, or the sentence that says what is wrong with it. */
async function readBody(
  context: Parameters<typeof readJsonText>[0],
  bytesMax: number,
): Promise<{ readonly value: unknown } | string> {
  const body = await readText(context, bytesMax);
  if (typeof body === 'string') return body;
  try {
    return { value: parseJson(body.text) };
  } catch (error) {
    if (error instanceof JsonError) return 'the body must be well-formed JSON, each key once';
    throw error;
  }
}

/** A request's body by its schema, or a sentence with its first problem. */
export async function readRequest<Body>(
  context: Parameters<typeof readJsonText>[0],
  schema: z.ZodType<Body>,
  bytesMax: number,
): Promise<Result<Body, string>> {
  const body = await readBody(context, bytesMax);
  if (typeof body === 'string') return refuse(body);
  const parsed = schema.safeParse(body.value);
  return parsed.success ? accept(parsed.data) : refuse(describeProblem(firstProblem(parsed.error)));
}

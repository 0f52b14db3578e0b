import type { HttpBindings } from '@hono/node-server';
import { describeProblem, firstProblem, JsonError, parseJson } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import type { HonoRequest } from 'hono';
import type { z } from 'zod';
import { readMediaType } from './media-type.ts';

/** The parts of a request's context that reading a body needs. */
interface BodySource {
  readonly req: Pick<HonoRequest, 'header' | 'arrayBuffer'> & {
    readonly raw: { readonly body: AsyncIterable<Uint8Array> | null };
  };
  /** What the HTTP server hands over; nothing if an app is called without a server. */
  readonly env?: unknown;
  /** Of a signed request: whether the bytes are those that were signed. Who sets it answers a request whose are not. */
  readonly var?: Readonly<Record<string, unknown>> & {
    readonly isSignedBody?: ((bytes: Uint8Array) => boolean) | undefined;
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a request's body by its schema, with numbers as their own text; a refusal is a sentence with the first problem. */
export async function readJsonBody<Schema extends z.ZodType>(
  context: BodySource,
  schema: Schema,
  bytesMax: number,
): Promise<Result<z.output<Schema>, string>> {
  const json = await readJson(context, bytesMax);
  return json.ok ? checkBody(schema, json.value) : json;
}

/** Reads a request's body, whatever it holds, with numbers as their own text. */
export async function readJson(context: BodySource, bytesMax: number): Promise<Result<unknown, string>> {
  const text = await readJsonText(context, bytesMax);
  if (!text.ok) return text;
  try {
    return accept(parseJson(text.value));
  } catch (error) {
    if (error instanceof JsonError) return refuse(`the body ${error.message}`);
    throw error;
  }
}

/** A body by its schema; a refusal is a sentence with the first problem. */
export function checkBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): Result<z.output<Schema>, string> {
  const parsed = schema.safeParse(body);
  return parsed.success ? accept(parsed.data) : refuse(describeProblem(firstProblem(parsed.error)));
}

/** Reads the text of a JSON request within a bound; a larger body is refused, not buffered. */
export async function readJsonText(context: BodySource, bytesMax: number): Promise<Result<string, string>> {
  const problem = headerProblem(context);
  if (problem !== undefined) return refuse(problem);
  const bytes = await readBytes(context, bytesMax);
  if (bytes === undefined) return refuse(`the body must have at most ${bytesMax} bytes`);
  if (context.var?.isSignedBody?.(bytes) === false) return refuse('the body is not the one that was signed');
  const text = decode(bytes);
  if (text === undefined) return refuse('the body must be UTF-8');
  return text.startsWith('\ufeff') ? refuse('the body must not begin with a byte order mark') : accept(text);
}

function headerProblem({ req }: BodySource): string | undefined {
  const type = readMediaType(req.header('content-type'));
  if (type?.essence !== 'application/json') return 'Content-Type must be application/json';
  if (!/^utf-?8$/i.test(type.params.get('charset') ?? 'utf-8')) return 'Content-Type: charset must be utf-8';
  if (isCompressed(req.header('content-encoding')))
    return 'Content-Encoding must be left out: the body must not be compressed';
  return undefined;
}

/** Whether a Content-Encoding says that a body is not sent as it is (RFC 9110 8.4). */
export function isCompressed(contentEncoding: string | undefined): boolean {
  return !/^\s*(?:identity)?\s*$/i.test(contentEncoding ?? '');
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Reads the bytes of a request's body; undefined if they exceed the limit.
 *
 * @throws TypeError if a body without a length was read before: nothing of it is left
 */
export async function readBytes(context: BodySource, bytesMax: number): Promise<Uint8Array | undefined> {
  const declared = context.req.header('content-length');
  if (declared !== undefined) {
    if (Number(declared) > bytesMax) return undefined;
    return new Uint8Array(await context.req.arrayBuffer());
  }
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  if (incoming?.readableDidRead) throw new TypeError('the body was read before');
  // As a web stream it takes much longer, which any sender could choose to cost us. It stays open for the answer.
  const stream: AsyncIterable<Uint8Array> | null = incoming?.readable
    ? incoming.iterator({ destroyOnReturn: false })
    : context.req.raw.body;
  if (stream === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.byteLength;
    if (length > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

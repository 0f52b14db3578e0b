import { createRoute, type RouteConfig } from '@hono/zod-openapi';
import { retryAfter } from '@pesewa/merchant-api';
import { z } from 'zod';

/** One answer of an operation, with named examples that match its schema. */
export interface DocumentedAnswer {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly examples: Readonly<Record<string, unknown>>;
  /** Whether it has `Retry-After`. */
  readonly retryAfter?: boolean;
}

/** The request of an operation that has a body. */
interface BodyRequest {
  /** The text whose Base64 is the value of `X-module` (contract 5). */
  readonly module: { readonly of: string; readonly example: string };
  readonly schema: z.ZodType;
  readonly examples: Readonly<Record<string, unknown>>;
}

/** The documentation of one operation, by which its route is registered too. */
export interface OperationText<Path extends string> {
  readonly path: Path;
  readonly operationId: string;
  readonly tag: 'Collections' | 'Status' | 'Lists';
  readonly summary: string;
  readonly description: string;
  /** Its body, which `X-module` goes with; or the parameters of one that only reads, and has neither. */
  readonly request: BodyRequest | { readonly query: z.ZodObject };
  readonly answers: Readonly<Record<number, DocumentedAnswer>>;
}

/** Builds an operation. Our own code reads its requests (numbers by their text); the schemas only document them. */
export function defineOperation<const Path extends string>(text: OperationText<Path>) {
  return createRoute({
    method: 'query' in text.request ? 'get' : 'post',
    path: text.path,
    operationId: text.operationId,
    tags: [text.tag],
    summary: text.summary,
    description: text.description,
    security: [{ publicKey: [] }],
    request: 'query' in text.request ? { headers: appHeader, ...text.request } : bodyOf(text.request),
    responses: Object.fromEntries(
      Object.entries(text.answers).map(([status, answer]) => [status, documented(answer)]),
    ),
  });
}

const appHeader = z.object({ 'X-app': z.literal('api').meta({ description: 'always `api`' }) });

function bodyOf({ module, schema, examples }: BodyRequest) {
  const moduleHeader = z.string().meta({
    description: `the Base64 of ${module.of}: standard alphabet, with padding; the page at /docs fills it in from the body`,
    example: Buffer.from(module.example, 'utf8').toString('base64'),
  });
  return {
    headers: appHeader.extend({ 'X-module': moduleHeader }),
    body: { required: true, content: { 'application/json': { schema, examples: named(examples) } } },
  };
}

function documented(answer: DocumentedAnswer): RouteConfig['responses'][string] {
  return {
    description: answer.description,
    content: { 'application/json': { schema: answer.schema, examples: named(answer.examples) } },
    ...(answer.retryAfter === true && { headers: retryAfter }),
  };
}

function named(examples: Readonly<Record<string, unknown>>): Record<string, { value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import type { KeyScope } from '@pesewa/contracts';
import { z } from 'zod';
import { signatureHeaders } from './request-signatures.ts';

/**
 * Lets the optional texts of a document also be empty or null, as the contract does (contract 2.2, 2.8): the schemas
 * that read requests treat those as absent before they check length or values.
 */
export function allowEmpty<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(allowEmpty) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, allowEmpty(inner)] as const);
  const schema: Record<string, unknown> = Object.fromEntries(entries);
  const { type } = schema as { readonly type?: unknown };
  if (Array.isArray(type) && type.includes('string') && type.includes('null')) {
    delete schema['minLength'];
    const values = z.array(z.unknown()).safeParse(schema['enum']);
    if (values.success) schema['enum'] = [...values.data.filter((one) => one !== null), '', null];
  }
  return schema as Value;
}

/** The header of an answer that says when to come again, where it has one. */
export const retryAfter = {
  'Retry-After': { description: 'whole seconds to wait', schema: { type: 'integer' as const, minimum: 1 } },
};

/** Builds the OpenAPI 3.1 document of a merchant API from the operations that its routes are registered by. */
export function buildOpenApiDocument(api: {
  readonly title: string;
  readonly description: string;
  /** The header that carries the merchant's key. */
  readonly keyHeader: string;
  /** What such a key must be for. */
  readonly keyScope: KeyScope;
  /** The tags of its operations. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly operations: readonly RouteConfig[];
  /** What we send to merchants. */
  readonly webhook: RouteConfig;
}): object {
  const { openAPIRegistry: registry, getOpenAPI31Document } = new OpenAPIHono();
  registry.registerComponent('securitySchemes', 'publicKey', {
    type: 'apiKey',
    in: 'header',
    name: api.keyHeader,
    description: `the Base64 of your public key for ${api.keyScope}`,
  });
  for (const operation of api.operations) registry.registerPath(withSignature(operation));
  registry.registerWebhook(api.webhook);
  const document = getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: api.title, version: '1', description: api.description },
    servers: [{ url: '/', description: 'the address that serves this document' }],
    tags: [...api.tags, { name: 'Webhooks', description: 'what we send to you' }],
  });
  return allowEmpty(document);
}

/** An operation with the headers of a signed request, which all of them may carry. */
function withSignature(operation: RouteConfig): RouteConfig {
  const { headers } = operation.request ?? {};
  return {
    ...operation,
    request: {
      ...operation.request,
      headers: headers instanceof z.ZodObject ? headers.extend(signatureHeaders.shape) : signatureHeaders,
    },
  };
}

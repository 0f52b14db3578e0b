import type { Merchant } from '@pesewa/directory';
import { accept, type Result } from '@pesewa/kernel';
import { digestOfBody, verifyRequest } from '@pesewa/signatures';
import type { Context } from 'hono';
import { z } from 'zod';

/**
 * The headers of a signed request, as the documents of both APIs show them (contract 10.21). Without examples, since the
 * documents' viewer would send those.
 */
export const signatureHeaders = z.object({
  'X-timestamp': z.string().optional().meta({
    description: 'of a signed request: the whole seconds since 1970',
  }),
  'X-digest': z
    .string()
    .optional()
    .meta({
      description: 'of a signed request: the SHA-256 of the body in hex',
      example: digestOfBody(''),
    }),
  'X-signature': z.string().optional().meta({
    description: '`v1=` and a HMAC-SHA256 in hex; required if your operator has set it so',
  }),
});

/** The part of a request that its signature is judged by. */
interface SignedContext {
  readonly req: Pick<Context['req'], 'method' | 'url' | 'header'>;
  readonly env?: { readonly incoming?: { readonly url?: string | undefined } } | undefined;
}

/**
 * Judges the signature of a request before its body is read. Gives the check of the body, undefined for a request that is
 * not signed and need not be; or a sentence that names the header and the remedy.
 *
 * A signature that is sent is judged even where none is required, so that a merchant can try it before it is. Without
 * any secret there is nothing to judge, and the headers may mean something else to the sender.
 */
export function judgeSignature(
  context: SignedContext,
  { isRequired, secrets }: Merchant['signing'],
  nowMs: number,
): Result<((bytes: Uint8Array) => boolean) | undefined, string> {
  const { req } = context;
  if (!isRequired && (secrets.length === 0 || req.header('x-signature') === undefined))
    return accept(undefined);
  const digest = verifyRequest({
    method: req.method,
    target: targetOf(context),
    headers: {
      'x-timestamp': req.header('x-timestamp'),
      'x-digest': req.header('x-digest'),
      'x-signature': req.header('x-signature'),
    },
    secrets,
    nowMs,
  });
  if (!digest.ok) return digest;
  return accept((bytes) => digestOfBody(bytes) === digest.value);
}

/** The path and the query as they were sent; a parsed URL may spell them otherwise. */
function targetOf({ env, req }: SignedContext): string {
  const sent = env?.incoming?.url;
  if (sent?.startsWith('/') === true) return sent;
  // Without a server, or with the whole address in the request line.
  const { pathname, search } = new URL(req.url);
  return `${pathname}${search}`;
}

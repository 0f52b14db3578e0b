import type { Context } from 'hono';

/** The largest body of a request: larger than one with every field at its full length, in letters of three bytes. */
export const BODY_BYTES_MAX = 16_384;

/** The value of `X-business`; undefined if `X-app` is not that of the API (contract 5). */
export function merchantKeyOf(context: Pick<Context, 'req'>): string | undefined {
  return context.req.header('x-app') === 'api' ? context.req.header('x-business') : undefined;
}

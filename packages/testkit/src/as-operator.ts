import { createOperators, guardOperator } from '@pesewa/runtime';
import type { Hono } from 'hono';

const TOKEN = 'the-token-of-an-admin';

/** Operator routes as an admin calls them. */
export function asOperator(routes: Hono): Pick<Hono, 'request'> {
  const guarded = guardOperator(routes, createOperators(TOKEN));
  return {
    request: (input, init, ...rest) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${TOKEN}`);
      return guarded.request(input, { ...init, headers }, ...rest);
    },
  };
}

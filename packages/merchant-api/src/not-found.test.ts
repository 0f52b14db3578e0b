import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { allowedMethods } from './not-found.ts';

const app = new Hono()
  .use('/items/*', (_context, next) => next())
  .get('/items/:id/state', (context) => context.text(''))
  .post('/items', (context) => context.text(''))
  .get('/items', (context) => context.text(''));

it.each([
  ['/items', ['GET', 'HEAD', 'POST']],
  ['/items/7/state', ['GET', 'HEAD']],
  ['/items//state', []],
  ['/items/7', []],
  ['/items/', []],
])('%s can be called by %j', (path, methods) => {
  expect(allowedMethods(app.routes, path)).toEqual(methods);
});

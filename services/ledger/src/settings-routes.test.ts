import type { Settings } from '@pesewa/directory';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { addSettingsRoutes } from './settings-routes.ts';

/** The routes over settings that record how they are asked for merchants. */
function open() {
  const asked: unknown[] = [];
  const merchants: Settings['merchants'] = async (query) => {
    asked.push(query);
    return { items: [{ id: 'demo', name: 'Demo', status: 'active' }], next: 'demo' };
  };
  const routes = new Hono();
  addSettingsRoutes(routes, { merchants } as Settings);
  const app = guardOperator(routes, createOperators('the-token-of-these-tests'));
  const headers = { authorization: 'Bearer the-token-of-these-tests' };
  return { asked, get: async (path: string) => app.request(path, { headers }) };
}

it('lists merchants from the one after the cursor on', async () => {
  const { asked, get } = open();
  const answer = await get('/merchants?cursor=acme&limit=1');
  expect([answer.status, await answer.json()]).toEqual([
    200,
    { items: [{ id: 'demo', name: 'Demo', status: 'active' }], next: 'demo' },
  ]);
  await get('/merchants');
  await get('/merchants?search=Mensah%20%26%20Son');
  expect(asked).toMatchObject([
    { after: 'acme', limit: 1 },
    { after: undefined, limit: 100 },
    { search: 'Mensah & Son' },
  ]);
});

it.each(['limit=0', 'limit=501', `cursor=${'x'.repeat(33)}`])('refuses %s', async (query) => {
  expect((await open().get(`/merchants?${query}`)).status).toBe(400);
});

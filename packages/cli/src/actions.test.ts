import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const action = {
  id: 'ac-1',
  at: '2026-01-02T03:04:05.000Z',
  operator: 'ama',
  operation: 'POST /breaks/{id}/assign',
  objects: ['br-1', 'kofi'],
  status: 200,
};
const list = (...items: readonly object[]) => ({ status: 200, body: { items, next: null } });

it('shows what operators did at all services, the newest first, and what may have been done', async () => {
  const later = { ...action, at: '2026-01-02T03:04:06.000Z', operator: 'kofi', status: null };
  const line = commandLine([list(action), list(), list(), list(later), list(), list()]);
  expect(await line.run('actions', '--object', 'br-1')).toBe(0);
  expect(line.requests).toHaveLength(6);
  for (const url of line.requests) expect(url).toMatch(/\/actions\?object=br-1&limit=50$/);
  const [, first = '', second = ''] = line.printed().split('\n');
  expect(first).toMatch(/kofi.*br-1, kofi.*none: it may have taken effect/);
  expect(second).toMatch(/ama.*POST \/breaks\/\{id\}\/assign.*200/);
});

it('are those of a period', async () => {
  const line = commandLine([list(action)]);
  const period = ['--from', '2026-11-20', '--to', '2026-11-21T08:00:00+02:00'];
  expect(await line.run('actions', '--service', 'ledger', ...period)).toBe(0);
  const query = new URLSearchParams({ from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T06:00:00.000Z' });
  expect(line.requests).toEqual([`http://ledger/actions?${query.toString()}&limit=50`]);
});

it('prints what the others answered if one service is silent, and fails', async () => {
  const line = commandLine([{ status: 503, body: {} }, list(action), list(), list(), list(), list()]);
  expect(await line.run('actions', '--by', 'ama', '--json')).toBe(1);
  expect(line.printed()).toContain('"ac-1"');
});

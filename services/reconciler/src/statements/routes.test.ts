import { systemClock } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { mapping } from '../fixtures/statement-rows.ts';
import { uploader } from '../fixtures/statements.ts';
import { addStatementRoutes, type StatementRouteDeps } from './routes.ts';

const never = (): never => {
  throw new Error('a refused upload reads nothing');
};

it('refuses a mapping that was kept without the column by which lines are matched', async () => {
  const operator = new Hono();
  const kept = {
    _id: 'daily',
    mapping: { ...mapping, columns: { amount: 'Amount' } },
    at: new Date(0),
    by: 'ama',
  };
  addStatementRoutes(operator, {
    statements: { take: never, tryOut: never, forget: never, [Symbol.asyncDispose]: async () => undefined },
    statementStore: {} as StatementRouteDeps['statementStore'],
    mappings: { put: never, list: never, find: async () => kept },
    railNames: ['upstream'],
    clock: systemClock,
  });
  const guarded = guardOperator(operator, createOperators('a-token', []));
  const upload = uploader(async (path, init = {}) => {
    const response = await guarded.request(path, { ...init, headers: { authorization: 'Bearer a-token' } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  });
  expect(
    await upload('Amount\r\n-100\r\n', { rail: 'upstream', currency: 'KES', mapping: 'daily' }),
  ).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('mapping daily: columns.reference is required') as unknown },
  });
});

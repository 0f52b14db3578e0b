import { accept, refuse } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { addOperatorRoutes } from './operator.ts';
import type { OperatorActions } from './operator-actions.ts';
import type { RejectedQuery } from './rejections.ts';
import type { CallbackQuery } from './store.ts';

const TOKEN = 'a-token-of-operators';

function open(actions: Partial<OperatorActions> = {}) {
  const asked: (CallbackQuery | RejectedQuery)[] = [];
  const noted: unknown[] = [];
  const operator = new Hono();
  const list = async (query: CallbackQuery | RejectedQuery) => {
    asked.push(query);
    return Array.from({ length: query.limit }, (_, index) => ({ id: `cb-${index}` })) as never;
  };
  addOperatorRoutes(operator, {
    callbacks: {
      redrive: async () => accept('passed_on'),
      dismiss: async () => accept('dismissed'),
      ...actions,
    },
    store: { list, listRejected: list },
    logger: { info: (...line: unknown[]) => void noted.push(line) },
  });
  const app = guardOperator(operator, createOperators(TOKEN));
  const headers = { authorization: `Bearer ${TOKEN}` };
  const call = async (path: string, method = 'GET') => {
    const answer = await app.request(path, { method, headers });
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  };
  return { call, asked, noted };
}

describe('lists of callbacks', () => {
  test.each([
    ['?reference=po-1', { reference: 'po-1' }],
    ['?state=failed', { state: 'failed' }],
    ['?reference=po-1&state=passed_on&after=cb-7', { reference: 'po-1', state: 'passed_on', after: 'cb-7' }],
  ])('%s is asked of the store', async (query, expected) => {
    const { call, asked } = open();
    expect(await call(`/callbacks${query}`)).toMatchObject({ status: 200, body: { next: 'cb-99' } });
    expect(asked).toEqual([{ ...expected, limit: 100 }]);
  });

  test.each(['', '?after=cb-7', '?state=other', '?reference=../x'])('%s is invalid', async (query) => {
    const { call, asked } = open();
    expect(await call(`/callbacks${query}`)).toMatchObject({ status: 400, body: { code: 'invalid' } });
    expect(asked).toEqual([]);
  });

  test('of rejected ones go on after a cursor', async () => {
    const { call, asked } = open();
    expect((await call('/callbacks/rejected?after=cb-7')).status).toBe(200);
    expect((await call('/callbacks/rejected?rail=other&reason=signature.wrong')).status).toBe(200);
    expect(asked).toEqual([
      { after: 'cb-7', limit: 100 },
      { rail: 'other', reason: 'signature.wrong', limit: 100 },
    ]);
    expect(await call('/callbacks/rejected?reason=none')).toMatchObject({ status: 400 });
  });
});

describe('driving a callback again', () => {
  test('is answered 202 and noted with who ordered it', async () => {
    const { call, noted } = open();
    expect(await call('/callbacks/cb-1/redrive', 'POST')).toEqual({
      status: 202,
      body: { id: 'cb-1', state: 'passed_on' },
    });
    expect(noted).toMatchObject([
      [
        { callback: 'cb-1', operator: 'operator', outcome: 'passed_on' },
        'a callback was driven again by hand',
      ],
    ]);
  });

  test.each([
    ['callback.unknown', 404, 'not_found'],
    ['callback.unreadable', 409, 'failed'],
    ['callback.dismissed', 409, 'dismissed'],
    ['rail.unknown', 409, 'rail_unknown'],
  ] as const)('%s is answered %i', async (refusal, status, code) => {
    const { call } = open({ redrive: async () => refuse(refusal) });
    expect(await call('/callbacks/cb-1/redrive', 'POST')).toMatchObject({ status, body: { code } });
  });
});

describe('dismissing a callback', () => {
  test('is answered 200 and noted with who ordered it', async () => {
    const { call, noted } = open();
    expect(await call('/callbacks/cb-1/dismiss', 'POST')).toEqual({
      status: 200,
      body: { id: 'cb-1', state: 'dismissed' },
    });
    expect(noted).toEqual([
      [{ callback: 'cb-1', operator: 'operator', outcome: 'dismissed' }, 'a callback was dismissed by hand'],
    ]);
  });

  test.each([
    ['callback.unknown', 404, 'not_found'],
    ['callback.not_failed', 409, 'not_failed'],
  ] as const)('%s is answered %i', async (refusal, status, code) => {
    const { call } = open({ dismiss: async () => refuse(refusal) });
    expect(await call('/callbacks/cb-1/dismiss', 'POST')).toMatchObject({ status, body: { code } });
  });
});

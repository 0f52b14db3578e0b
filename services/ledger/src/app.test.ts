import { accept, refuse } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { describe, expect, it } from 'vitest';
import { createApp } from './app.ts';
import type { FundCommand } from './commands.ts';
import type { EntryDocument } from './store.ts';

const entry: EntryDocument = {
  _id: 'po-1/hold',
  kind: 'hold',
  debit: 'wallet:demo:KES:available',
  credit: 'wallet:demo:KES:held',
  amount: 101_050n,
  currency: 'KES',
  reference: 'po-1',
  causationId: 'ev-1',
  wallet: 'demo:KES',
  walletSequence: 2n,
  at: new Date(0),
};

function open() {
  const submitted: (Omit<FundCommand, 'commandId'> & { commandId: string | undefined })[] = [];
  const app = createApp({
    logger: createLogger({ name: 'test', level: 'silent' }),
    store: {
      findWallet: async (key) =>
        key === 'demo:KES'
          ? { merchantId: 'demo', currency: 'KES', available: 10_050n, held: 1n, sequence: 3n }
          : undefined,
      findEntries: async (reference, _after, limit) =>
        reference === 'po-1'
          ? [entry]
          : reference === 'po-many'
            ? Array.from({ length: limit }, () => ({ ...entry, _id: 'po-many/x' }))
            : [],
      findFloats: async () => [{ rail: 'upstream', currency: 'XOF', balance: -5n }],
    },
    commands: {
      submit: async (command, commandId) => {
        submitted.push({ ...command, commandId });
        return commandId === 'cm-taken' ? refuse('command.differs') : accept(commandId ?? 'cm-new');
      },
      status: async (commandId) => (commandId === 'cm-1' ? 'applied' : undefined),
    },
  });
  const post = async (path: string, body: object | string) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    return [answer.status, await answer.json()];
  };
  const get = async (path: string) => {
    const answer = await app.request(path);
    return [answer.status, await answer.json()];
  };
  return { submitted, post, get };
}

const order = { merchantId: 'demo', currency: 'KES', amount: '100.5', requestedBy: 'ama' };

describe('the operator API', () => {
  it('shows a wallet in decimal text, and says where there is none', async () => {
    const { get } = open();
    const wallet = { merchantId: 'demo', currency: 'KES', available: '100.5', held: '0.01', sequence: 3 };
    expect(await get('/accounts/demo/KES')).toEqual([200, wallet]);
    expect(await get('/accounts/demo/GHS')).toMatchObject([404, { code: 'not_found' }]);
  });

  it('lists the entries of a reference, page by page', async () => {
    const { get } = open();
    expect(await get('/entries?reference=po-1')).toMatchObject([
      200,
      {
        items: [{ id: 'po-1/hold', amount: '1010.5', walletSequence: 2, at: '1970-01-01T00:00:00.000Z' }],
        next: null,
      },
    ]);
    expect(await get('/entries?reference=po-many')).toMatchObject([200, { next: 'po-many/x' }]);
    expect(await get('/entries?reference=po-0')).toEqual([200, { items: [], next: null }]);
  });

  it('refuses to list entries without a reference or with the cursor of another', async () => {
    const { get } = open();
    expect(await get('/entries')).toMatchObject([400, { code: 'invalid' }]);
    expect(await get('/entries?reference=po-1&cursor=po-2/hold')).toMatchObject([400, { code: 'invalid' }]);
  });

  it('lists the floats, signed and in the digits of their currency', async () => {
    const { get } = open();
    const items = [{ rail: 'upstream', currency: 'XOF', balance: '-5' }];
    expect(await get('/floats')).toEqual([200, { items, next: null }]);
  });

  it('takes a funding of a wallet and of a float', async () => {
    const { post, submitted } = open();
    expect(await post('/commands/fund', order)).toEqual([202, { commandId: 'cm-new' }]);
    const float = { ...order, merchantId: undefined, rail: 'upstream', commandId: 'cm-own' };
    expect(await post('/commands/fund-float', float)).toEqual([202, { commandId: 'cm-own' }]);
    const amount = { minor: 10_050n, currency: 'KES' };
    expect(submitted).toEqual([
      { kind: 'fund', target: 'demo', amount, requestedBy: 'ama', commandId: undefined },
      { kind: 'fundFloat', target: 'upstream', amount, requestedBy: 'ama', commandId: 'cm-own' },
    ]);
  });

  it.each([
    ['amount', { ...order, amount: 100.5 }],
    ['amount', { ...order, amount: '0' }],
    ['amount', { ...order, amount: '-1' }],
    ['amount', { ...order, amount: '1.001' }],
    ['amount', { ...order, amount: 'much' }],
    ['currency', { ...order, currency: 'ABC' }],
    ['merchantId', { ...order, merchantId: 'a:b' }],
    ['requestedBy', { ...order, requestedBy: '' }],
    ['the body', '{"amount":'],
  ])('refuses a funding by name: %s', async (name, body) => {
    const { post, submitted } = open();
    const answer = await post('/commands/fund', body);
    expect(answer).toMatchObject([400, { code: 'invalid' }]);
    expect(JSON.stringify(answer)).toContain(`"message":"${name} `);
    expect(submitted).toEqual([]);
  });

  it('refuses another command under a taken id', async () => {
    const { post } = open();
    expect(await post('/commands/fund', { ...order, commandId: 'cm-taken' })).toMatchObject([
      409,
      { code: 'duplicate' },
    ]);
  });

  it('tells what became of a command', async () => {
    const { get } = open();
    expect(await get('/commands/cm-1')).toEqual([200, { commandId: 'cm-1', status: 'applied' }]);
    expect(await get('/commands/cm-2')).toMatchObject([404, { code: 'not_found' }]);
  });
});

import { createHash } from 'node:crypto';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { addCommandRoutes } from './command-routes.ts';
import type { Commands, FollowedOrder } from './commands.ts';
import type { DecisionRefusal, Order } from './domain/orders.ts';
import { anyTarget } from './orders.fixture.ts';
import type { Targets } from './targets.ts';

/** Matches any text with this part. */
const containing = (part: string): unknown => expect.stringContaining(part);

const proposed: Order = {
  commandId: 'cm-1',
  kind: 'fund',
  target: 'demo',
  currency: 'KES',
  amount: 10_050n,
  requestedBy: 'operator',
  at: new Date(0),
  status: 'proposed',
};
const decision = { decidedBy: 'esi', decidedAt: new Date(1_000) };
const approved: Order = { ...proposed, ...decision, status: 'approved' };
const rejected: Order = { ...proposed, ...decision, status: 'rejected', decisionReason: 'not ours' };

/** The routes behind the guard, called by the main operator; `said` records their calls. */
function open(answers: {
  readonly decided?: Result<FollowedOrder, DecisionRefusal | 'order.unknown'>;
  readonly found?: FollowedOrder;
  readonly targets?: Targets;
  readonly sharedMayAct?: boolean;
}) {
  const said: unknown[] = [];
  const commands: Commands = {
    propose: async (request, by, commandId) => {
      said.push({ ...request, by, commandId });
      return commandId === 'cm-taken' ? refuse('command.differs') : accept({ order: proposed });
    },
    decide: async (...call) => {
      said.push(call);
      return answers.decided ?? refuse('order.unknown');
    },
    find: async (commandId) => (commandId === 'cm-1' ? answers.found : undefined),
    list: async (query) => {
      said.push(query);
      return { items: [{ order: proposed }], next: { atMs: 0, id: 'cm-1' } };
    },
  };
  const routes = new Hono();
  const { targets = anyTarget } = answers;
  addCommandRoutes(routes, { commands, targets });
  const tokenHash = Uint8Array.from(createHash('sha256').update('token-of-ama').digest());
  const app = guardOperator(
    routes,
    createOperators(
      'the-token-of-these-tests',
      [{ name: 'ama', role: 'approver', tokenHash }],
      answers.sharedMayAct,
    ),
  );
  const ask = async (path: string, body?: object | string, token = 'the-token-of-these-tests') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: text };
    const answer = await app.request(path, init);
    return [answer.status, await answer.json()];
  };
  return { said, ask };
}

const order = { merchantId: 'demo', currency: 'KES', amount: '100.5' };
const floatOrder = { rail: 'upstream', currency: 'KES', amount: '100.5' };
const money = { currency: 'KES', amount: 10_050n, by: 'operator', commandId: undefined };

describe('a proposal', () => {
  it.each([
    ['fund', order, { kind: 'fund', target: 'demo' }],
    ['fund-float', floatOrder, { kind: 'fundFloat', target: 'upstream' }],
    [
      'withdraw',
      { ...order, reason: 'asked for' },
      { kind: 'withdraw', target: 'demo', reason: 'asked for' },
    ],
    ['withdraw-float', floatOrder, { kind: 'withdrawFloat', target: 'upstream' }],
    [
      'adjust',
      { ...order, direction: 'debit', reason: 'credited twice' },
      { kind: 'adjust', target: 'demo', direction: 'debit', reason: 'credited twice' },
    ],
    [
      'suspense',
      { ...floatOrder, direction: 'surplus', reason: 'break br-1' },
      { kind: 'suspense', target: 'upstream', direction: 'surplus', reason: 'break br-1' },
    ],
  ])('is taken in the name of the token’s owner: %s', async (kind, body, request) => {
    const { ask, said } = open({});
    expect(await ask(`/commands/${kind}`, body)).toEqual([
      202,
      {
        commandId: 'cm-1',
        kind: 'fund',
        merchantId: 'demo',
        currency: 'KES',
        amount: '100.5',
        status: 'proposed',
        requestedBy: 'operator',
        requestedAt: '1970-01-01T00:00:00.000Z',
        expiresAt: '1970-01-08T00:00:00.000Z',
      },
    ]);
    expect(said).toEqual([{ ...money, ...request }]);
  });

  const adjustment = { ...order, direction: 'debit', reason: 'credited twice' };
  it.each([
    ['fund', 'amount must', { ...order, amount: 100.5 }],
    ['fund', 'amount must', { ...order, amount: '0' }],
    ['fund', 'amount must', { ...order, amount: '-1' }],
    ['fund', 'amount must', { ...order, amount: '1.001' }],
    ['fund', 'amount must', { ...order, amount: 'much' }],
    ['fund', 'amount must', { ...order, amount: '90071992547409.92' }],
    ['fund', 'currency must', { ...order, currency: 'ABC' }],
    ['fund', 'merchantId must', { ...order, merchantId: 'a:b' }],
    ['fund', 'merchantId is required', { ...order, merchantId: undefined }],
    ['fund', 'rail is no field of this order', { ...order, rail: 'upstream' }],
    ['fund', 'direction is no field of this order', { ...order, direction: 'credit' }],
    ['fund', 'requestedBy must be left out', { ...order, requestedBy: 'ama' }],
    ['fund', 'approvedBy must be left out', { ...order, approvedBy: 'ama' }],
    ['fund', 'commandId must', { ...order, commandId: 'po-1' }],
    ['fund', 'reason must have at most 200', { ...order, reason: 'x'.repeat(201) }],
    ['fund', 'the body must be', '[]'],
    ['fund', 'the body must be', '{"amount":'],
    ['withdraw-float', 'rail is required', { ...floatOrder, rail: undefined }],
    ['adjust', 'direction must be credit or debit', { ...adjustment, direction: 'surplus' }],
    ['adjust', 'reason is required', { ...adjustment, reason: undefined }],
    ['adjust', 'reason must have no control', { ...adjustment, reason: 'two\nlines' }],
    ['suspense', 'direction must be surplus or shortage', { ...floatOrder, reason: 'break br-1' }],
  ])('of %s is refused by name: %s', async (kind, message, body) => {
    const { ask, said } = open({});
    const answer = await ask(`/commands/${kind}`, body);
    expect(answer).toEqual([400, { code: 'invalid', message: containing(message) }]);
    expect(said).toEqual([]);
  });

  it('is refused if there is no such account', async () => {
    const message = 'there is no merchant demo';
    const targets: Targets = { whyUnknown: async () => ({ code: 'unknown_merchant', message }) };
    const { ask, said } = open({ targets });
    expect(await ask('/commands/fund', order)).toEqual([409, { code: 'unknown_merchant', message }]);
    expect(said).toEqual([]);
  });

  it('is refused under the id of another', async () => {
    const { ask } = open({});
    expect(await ask('/commands/fund', { ...order, commandId: 'cm-taken' })).toMatchObject([
      409,
      { code: 'duplicate' },
    ]);
  });
});

describe('the shared token', () => {
  it('looks, and in production neither orders nor decides; a named operator does', async () => {
    const { ask, said } = open({ sharedMayAct: false, found: { order: proposed } });
    for (const path of ['fund', 'cm-1/approve', 'cm-1/reject']) {
      const body = path === 'fund' ? order : { reason: 'not ours' };
      expect(await ask(`/commands/${path}`, body)).toEqual([
        403,
        { code: 'role_required', message: containing('an operator of OPERATORS') },
      ]);
    }
    expect(said).toEqual([]);
    expect(await ask('/commands/cm-1')).toMatchObject([200, { commandId: 'cm-1' }]);
    expect((await ask('/commands'))[0]).toBe(200);
    expect((await ask('/commands/fund', order, 'token-of-ama'))[0]).toBe(202);
  });
});

describe('a decision', () => {
  it('is recorded in the name of the token’s operator', async () => {
    const approving = open({ decided: accept({ order: approved }) });
    expect(await approving.ask('/commands/cm-1/approve', {})).toMatchObject([
      200,
      { status: 'approved', approvedBy: 'esi', approvedAt: '1970-01-01T00:00:01.000Z' },
    ]);
    expect(approving.said).toEqual([['cm-1', { kind: 'approve' }, 'operator']]);
    const rejecting = open({ decided: accept({ order: rejected }) });
    expect(await rejecting.ask('/commands/cm-1/reject', { reason: 'not ours' })).toMatchObject([
      200,
      { status: 'rejected', rejectedBy: 'esi', rejectedFor: 'not ours' },
    ]);
    expect(rejecting.said).toEqual([['cm-1', { kind: 'reject', reason: 'not ours' }, 'operator']]);
  });

  it.each([
    ['order.same_operator', 403, 'same_operator', 'another operator must approve it'],
    ['order.expired', 409, 'expired', 'propose it again'],
    ['order.decided', 409, 'decided', 'the order is rejected already'],
    ['order.unknown', 404, 'not_found', 'there is no such order'],
  ] as const)('is refused with the remedy: %s', async (refusal, status, code, message) => {
    const { ask } = open({ decided: refuse(refusal), found: { order: rejected } });
    const answer = await ask('/commands/cm-1/approve', {});
    expect(answer).toEqual([status, { code, message: containing(message) }]);
  });

  it('to reject needs a reason', async () => {
    const { ask, said } = open({});
    expect(await ask('/commands/cm-1/reject', {})).toEqual([
      400,
      { code: 'invalid', message: 'reason is required' },
    ]);
    expect(said).toEqual([]);
  });
});

describe('an order', () => {
  it.each([
    ['approved', { order: approved }, {}],
    [
      'applied',
      { order: approved, outcome: { status: 'applied', at: new Date(2_000) } },
      { appliedAt: '1970-01-01T00:00:02.000Z' },
    ],
    [
      'refused',
      { order: approved, outcome: { status: 'refused', reason: 'insufficient funds' } },
      { refusedFor: 'insufficient funds' },
    ],
  ] as const)('shows its outcome: %s', async (status, found, more) => {
    const { ask } = open({ found });
    expect(await ask('/commands/cm-1')).toMatchObject([200, { status, approvedBy: 'esi', ...more }]);
    expect(await ask('/commands/cm-2')).toMatchObject([404, { code: 'not_found' }]);
  });

  it('is listed by status, page by page', async () => {
    const { ask, said } = open({});
    expect(await ask('/commands?status=proposed')).toMatchObject([
      200,
      { items: [{ commandId: 'cm-1' }], next: '0.cm-1' },
    ]);
    await ask('/commands?cursor=0.cm-1');
    expect(said).toEqual([
      { status: 'proposed', limit: 100 },
      { after: { atMs: 0, id: 'cm-1' }, limit: 100 },
    ]);
    expect(await ask('/commands?status=open')).toMatchObject([400, { code: 'invalid' }]);
    expect(await ask('/commands?cursor=next')).toMatchObject([400, { code: 'invalid' }]);
  });
});

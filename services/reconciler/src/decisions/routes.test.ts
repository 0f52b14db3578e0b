import { createHash } from 'node:crypto';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { DecideRefusal, Decision, ProposeRefusal } from '../domain/decisions.ts';
import { outcomeProposed, proposed } from '../fixtures/decisions.ts';
import { addDecisionRoutes } from './routes.ts';

const OPERATOR = 'the-token-of-these-tests';
const approved = { approvedBy: 'kofi', approvedAt: new Date(1_000), railFee: 50n };

/** The routes behind the guard; `said` records their calls. */
function open(
  answers: {
    readonly proposed?: Result<Decision, ProposeRefusal>;
    readonly decided?: Result<Decision, DecideRefusal>;
    readonly sharedMayAct?: boolean;
  } = {},
) {
  const said: unknown[] = [];
  const routes = new Hono();
  addDecisionRoutes(routes, {
    decisions: {
      propose: async (given) => {
        said.push(given);
        return answers.proposed ?? accept(proposed);
      },
      decide: async (given) => {
        said.push(given);
        return answers.decided ?? refuse('decision.unknown');
      },
      find: async (id) => (id === proposed._id ? proposed : undefined),
      list: async (query) => {
        said.push(query);
        return { items: [proposed], next: { atMs: 5, id: 'dc-1' } };
      },
    },
  });
  const tokenHash = Uint8Array.from(createHash('sha256').update('token-of-ama').digest());
  const app = guardOperator(
    routes,
    createOperators(OPERATOR, [{ name: 'ama', role: 'approver', tokenHash }], answers.sharedMayAct),
  );
  const ask = async (path: string, body?: object | string, token: string | null = 'token-of-ama') => {
    const headers = {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await app.request(
      path,
      body === undefined ? { headers } : { method: 'POST', headers, body: text },
    );
    return [answer.status, await answer.json()];
  };
  return { said, ask, app };
}

const request = { reference: 'co-1', amount: '100.50' };

describe('the routes of decisions', () => {
  it('pass on who proposes what, by the token alone', async () => {
    const { ask, said } = open();
    const [status, body] = await ask('/decisions', { ...request, note: 'why', commandId: 'd-1' });
    expect(status).toBe(202);
    expect(body).toMatchObject({ id: 'dc-1', amount: '100.5', status: 'proposed', requestedBy: 'ama' });
    expect(said).toEqual([
      {
        request: { reference: 'co-1', amount: '100.50', note: 'why' },
        by: 'ama',
        id: 'd-1',
        dryRun: false,
      },
    ]);
    const dry = { ...request, despite: 'it is right', dryRun: true };
    expect(await ask('/decisions', dry)).toMatchObject([200, { id: 'dc-1' }]);
    expect(said.at(-1)).toMatchObject({ request: { despite: 'it is right' }, by: 'ama', dryRun: true });
  });

  it.each<[string, string, object | undefined]>([
    ['/decisions', 'propose', request],
    ['/decisions/dc-1/approve', 'approve', {}],
    ['/decisions/dc-1/reject', 'reject', {}],
  ])(
    'refuse at %s to %s with a token that belongs to no person, in production',
    async (path, _name, body) => {
      const { ask, said } = open({ sharedMayAct: false });
      expect(await ask(path, body, OPERATOR)).toMatchObject([403, { code: 'role_required' }]);
      expect(await ask(path, body, 'an-unknown-token')).toMatchObject([403, { code: 'forbidden' }]);
      expect(await ask(path, body, null)).toMatchObject([401, { code: 'unauthenticated' }]);
      expect(said).toEqual([]);
      expect((await ask('/decisions', undefined, OPERATOR))[0]).toBe(200);
    },
  );

  it.each<[object | string, number, RegExp]>([
    ['{', 400, /well-formed JSON/],
    ['{"amount":"1","amount":"2","reference":"co-1"}', 400, /each key once/],
    ['[]', 400, /must be a JSON object/],
    [{ reference: 'co-1' }, 400, /either amount or outcome is required/],
    [{ ...request, outcome: 'failed', note: 'why' }, 400, /either amount or outcome/],
    [{ reference: 'po-1', outcome: 'failed' }, 400, /note is required/],
    [{ reference: 'po-1', outcome: 'reversed', note: 'why' }, 400, /^outcome must be one of/],
    [{ ...request, amount: 1 }, 400, /^amount must be a decimal text/],
    [{ amount: '1' }, 400, /^reference/],
    [{ ...request, breakId: 'co-1/x' }, 400, /^breakId is no field/],
    [{ ...request, reference: '..' }, 400, /^reference/],
    [{ ...request, requestedBy: 'kofi' }, 400, /^requestedBy is no field/],
    [{ ...request, commandId: 'co-9' }, 400, /^commandId/],
    [{ ...request, note: 'x'.repeat(201) }, 400, /^note/],
    [{ ...request, note: 'x'.repeat(5_000) }, 400, /at most 4096 bytes/],
  ])('refuse %j with %i', async (body, status, message) => {
    const { ask, said } = open();
    const answer = await ask('/decisions', body);
    expect(answer).toMatchObject([status, { message: expect.stringMatching(message) as unknown }]);
    expect(said).toEqual([]);
  });

  it('take the outcome of a payout, over whichever break keeps it from its end', async () => {
    const { ask, said } = open({ proposed: accept(outcomeProposed) });
    const outcome = { outcome: 'failed', note: 'the rail says so in writing' };
    const answer = await ask('/decisions', { ...outcome, reference: 'po-1' });
    expect(answer).toMatchObject([202, { outcome: 'failed', amount: '100', reference: 'po-1' }]);
    const request = { ...outcome, reference: 'po-1' };
    expect(said).toMatchObject([{ request, by: 'ama', dryRun: false }]);
  });

  it('show one decision', async () => {
    const { ask } = open();
    expect(await ask('/decisions/dc-1')).toMatchObject([200, { id: 'dc-1', amount: '100.5' }]);
    expect(await ask('/decisions/dc-2')).toMatchObject([404, { code: 'not_found' }]);
  });

  it.each<[ProposeRefusal & string, number]>([
    ['break.unknown', 404],
    ['break.undecidable', 400],
    ['break.closed', 409],
    ['payment.ended', 409],
    ['amount.malformed', 400],
    ['amount.not_positive', 400],
    ['amount.too_fine', 400],
    ['amount.too_large', 400],
    ['amount.far_beyond', 409],
    ['decision.differs', 409],
  ])('answer %s with %i', async (refusal, status) => {
    expect((await open({ proposed: refuse(refusal) }).ask('/decisions', request))[0]).toBe(status);
  });

  it('name the decision that must be final first', async () => {
    const { ask } = open({ proposed: refuse({ pending: proposed }) });
    expect(await ask('/decisions', request)).toMatchObject([
      409,
      {
        code: 'undecided',
        message:
          'dc-1 (100.50 KES, proposed by ama) about co-1 waits for another operator: approve or reject it first',
      },
    ]);
  });

  it.each<[DecideRefusal, number]>([
    ['decision.unknown', 404],
    ['decision.same_operator', 403],
    ['decision.expired', 409],
    ['rail.unconfigured', 409],
    ['decision.decided', 409],
    ['break.closed', 409],
  ])('answer %s with %i', async (refusal, status) => {
    const { ask } = open({ decided: refuse(refusal) });
    expect((await ask('/decisions/dc-1/approve', {}))[0]).toBe(status);
  });

  it.each<[Decision, object]>([
    [
      { ...proposed, ...approved, status: 'approved' },
      { status: 'approved', approvedBy: 'kofi', railFee: '0.5' },
    ],
    [
      { ...proposed, ...approved, status: 'applied', appliedAt: new Date(2_000) },
      { status: 'applied', appliedAt: '1970-01-01T00:00:02.000Z' },
    ],
    [
      {
        ...proposed,
        status: 'rejected',
        rejectedBy: 'kofi',
        rejectedAt: new Date(1_000),
        rejectedFor: 'a slip',
      },
      { status: 'rejected', rejectedBy: 'kofi', rejectedFor: 'a slip' },
    ],
  ])('show what became of it: %#', async (decision, view) => {
    const { ask } = open({ decided: accept(decision) });
    expect(await ask('/decisions/dc-1/approve', {})).toMatchObject([200, view]);
  });

  it('reject with a reason, and not without one', async () => {
    const { ask, said } = open({ decided: accept(proposed) });
    expect(await ask('/decisions/dc-1/reject', {})).toMatchObject([400, { message: 'reason is required' }]);
    await ask('/decisions/dc-1/reject', { reason: 'a slip' });
    expect(said).toMatchObject([{ id: 'dc-1', verdict: 'reject', reason: 'a slip', by: 'ama' }]);
  });

  it('list by status and reference, page by page', async () => {
    const { ask, said } = open();
    expect(await ask('/decisions?status=proposed&reference=co-1')).toMatchObject([200, { next: '5.dc-1' }]);
    await ask('/decisions?cursor=5.dc-1');
    expect(said).toMatchObject([
      { status: 'proposed', reference: 'co-1' },
      { after: { atMs: 5, id: 'dc-1' } },
    ]);
    expect(await ask('/decisions?status=done')).toMatchObject([400, { message: 'not understood: status' }]);
    expect(await ask('/decisions?cursor=x')).toMatchObject([400, { message: 'not understood: cursor' }]);
  });
});

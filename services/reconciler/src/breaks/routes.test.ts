import { createHash } from 'node:crypto';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { Break } from '../domain/break.ts';
import type { Decision } from '../domain/decisions.ts';
import { observe } from '../domain/observing.ts';
import { outcomeProposed } from '../fixtures/decisions.ts';
import type { BreakRefusal } from './life.ts';
import { addBreakRoutes } from './routes.ts';

const OPERATOR = 'the-token-of-these-tests';
const at = new Date(Date.UTC(2026, 0, 2));
const found = observe(
  {
    field: 'balance',
    observer: 'audit',
    kind: 'wallet.drift',
    reference: 'upstream:KES',
    currency: 'KES',
    amount: -12_345n,
    detail: '=1+1',
    at,
  },
  undefined,
);
const payment: Break = {
  ...found,
  _id: 'po-1/status',
  field: 'status',
  kind: 'payment.contradiction',
  reference: 'po-1',
  corrections: ['cm-1'],
};
const decision: Decision = { ...outcomeProposed, status: 'approved', approvedBy: 'kofi', approvedAt: at };
const sides = { ours: '100', theirs: '87.5', lines: [], floatChange: '-12.5', waitsFor: null };
const path = `/breaks/${encodeURIComponent(found._id)}`;

/** The routes behind the guard; `said` records their calls. */
function open(
  options: { readonly changed?: Result<Break, BreakRefusal>; readonly sharedMayAct?: boolean } = {},
) {
  const said: unknown[] = [];
  const routes = new Hono();
  addBreakRoutes(routes, {
    clock: { nowMs: () => Date.UTC(2026, 0, 9) },
    sidesOf: async () => sides,
    decisions: { list: async () => ({ items: [decision], next: null }) },
    changeBreak: async (order) => {
      said.push(order);
      return options.changed ?? accept(found);
    },
    breaks: {
      findAll: async (ids) => [found, payment].filter(({ _id }) => ids.includes(_id)),
      list: async (query) => {
        said.push(query);
        const next = query.after ? null : { atMs: 5, id: found._id };
        return { items: [found], next };
      },
    },
  });
  const tokenHash = Uint8Array.from(createHash('sha256').update('token-of-ama').digest());
  const app = guardOperator(
    routes,
    createOperators(OPERATOR, [{ name: 'ama', role: 'approver', tokenHash }], options.sharedMayAct),
  );
  const send = (where: string, body?: object | string, token = 'token-of-ama') =>
    app.request(where, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
  const ask = async (...call: Parameters<typeof send>) => {
    const answer = await send(...call);
    return [answer.status, await answer.json()];
  };
  return { said, send, ask };
}

describe('the routes of breaks', () => {
  it('list by every filter, page by page', async () => {
    const { ask, said } = open();
    const filters =
      'reference=po-1&status=assigned&kind=wallet.drift&rail=upstream&currency=KES&owner=ama&waitsForApproval=true&olderThan=7d';
    const [status, page] = await ask(`/breaks?${filters}&limit=3`);
    expect(status).toBe(200);
    expect(page).toMatchObject({
      items: [{ id: found._id, amount: '-123.45', status: 'open', owner: null, version: 1 }],
      next: `5.${found._id}`,
    });
    await ask(`/breaks?cursor=${encodeURIComponent(`5.${found._id}`)}`);
    expect(said).toMatchObject([
      {
        reference: 'po-1',
        status: 'assigned',
        kind: 'wallet.drift',
        rail: 'upstream',
        currency: 'KES',
        owner: 'ama',
        waitsForApproval: 'true',
        before: new Date(Date.UTC(2026, 0, 2)),
        limit: 3,
      },
      { after: { atMs: 5, id: found._id }, limit: 50 },
    ]);
  });

  it.each([
    ['status=done', /^status must be one of/],
    [
      'kind=payout.lost',
      /^kind: there is no kind payout.lost: write one of callback.denied, .*statement.not_on_statement$/,
    ],
    ['kind=toString', /^kind: there is no kind toString: write one of/],
    ['olderThan=week', /^olderThan must be/],
    ['waitsForApproval=no', /^waitsForApproval must be true, or left out/],
    ['cursor=x', /^not understood: cursor/],
    ['limit=0', /^limit must be a whole number from 1 to 200/],
  ])('refuse %s', async (query, message) => {
    const { ask, said } = open();
    const refused = [400, { code: 'invalid', message: expect.stringMatching(message) as unknown }];
    expect(await ask(`/breaks?${query}`)).toMatchObject(refused);
    expect(said).toEqual([]);
  });

  it('show one by its id, percent-encoded, with its history and both sides', async () => {
    const { ask } = open();
    expect(await ask(path)).toMatchObject([
      200,
      {
        id: found._id,
        corrections: [],
        history: [{ at: '2026-01-02T00:00:00.000Z', by: null, what: 'opened', amount: '-123.45' }],
        ...sides,
      },
    ]);
    const [, shown] = await ask(`/breaks/${encodeURIComponent(payment._id)}`);
    expect(shown).toMatchObject({
      corrections: ['cm-1'],
      history: [
        { at: '1970-01-01T00:00:00.000Z', by: 'ama', what: 'decision proposed', text: 'failed: dc-2' },
        { what: 'opened' },
        { by: 'kofi', what: 'decision approved', text: 'failed: dc-2' },
      ],
    });
    for (const unknown of ['/breaks/po-9', '/breaks/%25', `/breaks/${'x'.repeat(500)}`]) {
      expect(await ask(unknown)).toMatchObject([404, { code: 'not_found' }]);
    }
  });

  it.each<[string, object, object]>([
    ['assign', { operator: 'kofi' }, { what: 'assign', text: 'kofi' }],
    ['notes', { text: ' asked them ' }, { what: 'note', text: 'asked them' }],
    ['explain', { explanation: 'a fee' }, { what: 'explain', text: 'a fee' }],
    ['resolve', { resolution: 'paid back' }, { what: 'resolve', text: 'paid back' }],
    ['resolve', { approves: 'kofi' }, { what: 'approve', approves: 'kofi' }],
    ['resolve/reject', { reason: 'not so' }, { what: 'reject', text: 'not so' }],
    ['reopen', { reason: 'not so' }, { what: 'reopen', text: 'not so' }],
  ])('%s in the name of the token’s owner', async (verb, body, request) => {
    const { ask, said } = open();
    expect(await ask(`${path}/${verb}`, { ...body, version: 4 })).toMatchObject([200, { id: found._id }]);
    expect(said).toMatchObject([{ id: found._id, by: 'ama', version: 4, request }]);
    const production = open({ sharedMayAct: false });
    const refused = [403, { code: 'role_required' }];
    expect(await production.ask(`${path}/${verb}`, body, OPERATOR)).toMatchObject(refused);
    expect(production.said).toEqual([]);
    expect((await production.send(path, undefined, OPERATOR)).status).toBe(200);
  });

  it.each<[string, object | string, RegExp]>([
    ['assign', '{', /well-formed JSON/],
    ['assign', {}, /^operator is required/],
    ['assign', { operator: 'kofi', by: 'kofi' }, /^by is no field/],
    ['notes', { text: '' }, /^text is required/],
    ['notes', { text: 'a\nb' }, /^text must have no control characters/],
    ['notes', { text: 'a‮b' }, /^text must have no control characters/],
    ['notes', { text: 'x'.repeat(501) }, /^text must have at most 500/],
    ['resolve', { resolution: 'x', version: -1 }, /^version/],
    ['resolve', {}, /^either resolution or approves is required/],
    ['resolve', { resolution: 'x', approves: 'kofi' }, /^either resolution or approves is required/],
    ['resolve', { approves: 'kofi' }, /^version is required with approves: it says which proposal/],
    ['resolve/reject', { reason: 'not so' }, /^version/],
    ['resolve/reject', { version: 4 }, /^reason is required/],
  ])('refuse %s of %j', async (verb, body, message) => {
    const { ask, said } = open();
    const refused = [400, { code: 'invalid', message: expect.stringMatching(message) as unknown }];
    expect(await ask(`${path}/${verb}`, body)).toMatchObject(refused);
    expect(said).toEqual([]);
  });

  it.each<[BreakRefusal, number, string]>([
    ['break.unknown', 404, 'not_found'],
    ['break.changed', 409, 'changed'],
    ['break.resolved', 409, 'resolved'],
    ['break.unresolved', 409, 'unresolved'],
    ['break.full', 409, 'full'],
    ['break.waits_for_end', 409, 'waits'],
    ['break.waits_for_decision', 409, 'undecided'],
    ['resolution.proposed_already', 409, 'proposed_already'],
    ['resolution.not_proposed', 409, 'not_proposed'],
    ['resolution.same_operator', 403, 'same_operator'],
    ['operator.unknown', 400, 'invalid'],
  ])('answer %s with %i %s', async (refusal, status, code) => {
    const { ask } = open({ changed: refuse(refusal) });
    expect(await ask(`${path}/resolve`, { resolution: 'x' })).toMatchObject([status, { code }]);
  });
});

describe('the export of breaks', () => {
  it('is CSV that no spreadsheet takes a formula from, all pages in one', async () => {
    const { send, said } = open();
    const answer = await send('/breaks/export?format=csv&status=unresolved');
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="breaks.csv"');
    // They are counted nowhere.
    expect(answer.headers.get('x-total-rows')).toBeNull();
    const row =
      "upstream:KES/balance,wallet.drift,upstream:KES,,open,KES,-123.45,'=1+1,,,2026-01-02T00:00:00.000Z,2026-01-02T00:00:00.000Z,,,,1";
    const heading =
      'id,kind,reference,rail,status,currency,amount,detail,owner,explanation,openedAt,since,resolvedAt,resolution,resolvedBy,version';
    expect((await answer.text()).split('\r\n')).toEqual([heading, row, row, '']);
    expect(said).toMatchObject([{ status: 'unresolved' }, { after: { atMs: 5 } }]);
  });

  it('is JSON as well, and of no other form', async () => {
    const { send, ask } = open();
    const items = (await (await send('/breaks/export?format=json')).json()) as readonly object[];
    expect(items).toHaveLength(2);
    expect(items[1]).toMatchObject({ id: found._id, detail: '=1+1' });
    const message = 'format must be one of csv, json';
    expect(await ask('/breaks/export?format=xml')).toMatchObject([400, { message }]);
  });
});

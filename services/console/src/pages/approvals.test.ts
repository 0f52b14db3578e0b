import type { ChangeView, DecisionView, OrderView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';
import { row, whole } from './breaks.fixture.ts';

const evil = '<script>alert("1")</script>\'"';
const asked = { status: 'proposed', requestedBy: 'kofi', requestedAt: '2026-11-27T08:00:00Z' } as const;
const order = {
  ...asked,
  commandId: 'cm-1',
  kind: 'withdraw',
  merchantId: 'demo',
  currency: 'KES',
  amount: '20',
  reason: evil,
  expiresAt: '2026-12-04T08:00:00Z',
} satisfies OrderView;
const decision = {
  ...asked,
  id: 'dc-1',
  breakId: 'po-1/status',
  reference: 'po-1',
  currency: 'KES',
  amount: '20',
  merchantId: 'demo',
  rail: 'upstream',
  outcome: 'failed',
  note: evil,
} satisfies DecisionView;
const change = {
  ...asked,
  id: 'sc-1',
  merchantId: 'demo',
  kind: 'webhooks',
  fields: [
    { field: 'webhooks.payoutsUrl', from: null, to: evil, currency: null },
    { field: 'limits.perPayoutMax.KES', from: '100', to: '5000', currency: 'KES' },
  ],
  reason: evil,
} satisfies ChangeView;
const pageOf = (...items: readonly unknown[]) => ({ items, next: null });
const wallet = { merchantId: 'demo', currency: 'KES', available: '100', held: '0', sequence: 1 };
const answers: Answers = {
  'ledger GET /commands': pageOf(order, { ...order, commandId: 'cm-2', requestedBy: 'ama' }),
  'ledger GET /commands/cm-1': order,
  'ledger GET /accounts/demo/KES': wallet,
  'reconciler GET /decisions': pageOf(decision),
  'reconciler GET /decisions/dc-1': decision,
  'ledger GET /changes': pageOf(change),
  'ledger GET /changes/sc-1': change,
};
const changesOf = (console: ReturnType<typeof openConsole>) =>
  console.asked.filter(({ what }) => !what.includes(' GET ')).map(({ what, body }) => [what, body]);

const kinds = [
  ['orders', 'cm-1', 'ledger', '/commands', order],
  ['decisions', 'dc-1', 'reconciler', '/decisions', decision],
  ['settings', 'sc-1', 'ledger', '/changes', change],
] as const;

const discard = { reason: evil, status: 'proposed', requestedBy: 'kofi', requestedAt: asked.requestedAt };
const parked = {
  id: 'ledger/topic/1/2',
  topic: 'topic',
  partition: 1,
  offset: '2',
  key: '',
  eventType: '',
  eventId: '',
  reason: '',
  valueBytes: 1,
  parkedAt: asked.requestedAt,
  state: 'parked',
  discard,
};
const pause = {
  scope: 'rail',
  name: 'upstream',
  reason: evil,
  pausedBy: 'kofi',
  pausedAt: asked.requestedAt,
  resumeProposedBy: 'ama',
};
const waits = { ...row, proposedResolution: { by: 'kofi', at: asked.requestedAt, resolution: evil } };
const elsewhere: Answers = {
  'ledger GET /parked': pageOf(parked),
  'payout-gateway GET /pauses': pageOf(pause),
  'collection-gateway GET /pauses': pageOf(),
  'reconciler GET /breaks?waitsForApproval=true&limit=50': pageOf(waits),
};

describe('the inbox of approvals', () => {
  it('has everything that waits for me in one table, apart from what I asked for, with counts', async () => {
    const ama = await openConsole({ ...answers, ...elsewhere }).signIn('ama');
    const { html } = await ama.get('/approvals');
    const text = textOf(html);
    // Services that gave no answer may have more.
    expect(text).toContain('For me (5+) Mine (2+) Decided');
    for (const [what, path] of [
      ['order', '/approvals/orders/cm-1'],
      ['decision', '/approvals/decisions/dc-1'],
      ['change of settings', '/approvals/settings/sc-1'],
      ['discard of a message', '/webhooks/parked/ledger%2Ftopic%2F1%2F2'],
      ['resolution of a break', '/breaks/upstream%3AGHS%2Fbalance'],
    ]) {
      expect(html).toContain(`href="${path}"`);
      expect(text).toContain(` ${what} `);
    }
    expect(html).not.toContain('/approvals/orders/cm-2');
    expect(html).not.toContain('<script>alert');
    const own = (await ama.get('/approvals?tab=mine')).html;
    expect(own).toContain('href="/approvals/orders/cm-2"');
    expect(own).toContain('href="/rails/resume?what=payouts&amp;scope=rail&amp;name=upstream"');
  });

  it('names a service that gives no answer, and the rest stands', async () => {
    const silent = {
      ...answers,
      ...elsewhere,
      'reconciler GET /decisions': answered(503, { message: 'full' }),
    };
    const ama = await openConsole(silent).signIn('ama');
    const { html, status } = await ama.get('/approvals');
    expect(status).toBe(200);
    expect(textOf(html)).toContain('Not available: reconciler: full');
    expect(html).toContain('/approvals/orders/cm-1');
  });

  it('has what was decided by kind, page by page', async () => {
    const decided = { ...order, commandId: 'cm-3', status: 'applied', approvedBy: 'esi' };
    const console = openConsole({
      ...answers,
      'ledger GET /commands?cursor=c1': { items: [order, decided], next: 'c2' },
    });
    const ama = await console.signIn('ama');
    const { html } = await ama.get('/approvals?tab=decided&of=orders&cursor=c1');
    expect(html).toContain('/approvals/orders/cm-3');
    expect(html).not.toContain('/approvals/orders/cm-1');
    expect(html).toContain('/approvals?tab=decided&amp;of=orders&amp;cursor=c2');
    const settings = (await ama.get('/approvals?tab=decided&of=settings')).html;
    expect(textOf(settings)).toContain('No change of settings on this page was decided.');
  });
});

describe.each(kinds)('a proposal of %s', (name, id, service, apiPath, view) => {
  const path = `/approvals/${name}/${id}`;

  it('shows what it changes, by whom, why, and which rule asks for two people', async () => {
    const ama = await openConsole(answers).signIn('ama', 'approver');
    const { html } = await ama.get(path);
    expect(textOf(html)).toMatch(/Asked for by kofi , 27\/11\/2026 08:00:00/);
    expect(html).toContain('Why two people');
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain('name="what" value="approve"');
  });

  it('is approved or rejected by one call', async () => {
    const console = openConsole({
      ...answers,
      [`${service} POST ${apiPath}/${id}/approve`]: view,
      [`${service} POST ${apiPath}/${id}/reject`]: view,
    });
    const ama = await console.signIn('ama', 'approver');
    expect((await ama.post(path, { what: 'approve' })).goesTo).toBe(path);
    expect((await ama.post(path, { what: 'reject', reason: 'twice' })).goesTo).toBe(path);
    expect(changesOf(console)).toEqual([
      [`${service} POST ${apiPath}/${id}/approve`, {}],
      [`${service} POST ${apiPath}/${id}/reject`, { reason: 'twice' }],
    ]);
  });

  it('of my own has no button to approve it, and says why', async () => {
    const kofi = await openConsole(answers).signIn('kofi');
    const { html } = await kofi.get(path);
    expect(html).not.toContain('value="approve"');
    expect(textOf(html)).toContain('Another operator must approve what you proposed.');
  });

  it('is not approved by the role of an operator', async () => {
    const esi = await openConsole(answers).signIn('esi', 'operator');
    const { html } = await esi.get(path);
    expect(html).not.toContain('value="approve"');
    expect(textOf(html)).toContain('To change this takes the role approver.');
  });

  it('that somebody decided meanwhile shows who did, and when', async () => {
    const refusal = answered(409, { code: 'decided', message: 'it is decided already' });
    const decided = {
      ...view,
      status: 'rejected',
      rejectedBy: 'esi',
      rejectedAt: '2026-11-27T11:59:00Z',
      rejectedFor: evil,
    };
    const states: unknown[] = [view, decided];
    const console = openConsole({
      ...answers,
      [`${service} GET ${apiPath}/${id}`]: () => states.shift(),
      [`${service} POST ${apiPath}/${id}/approve`]: refusal,
    });
    const ama = await console.signIn('ama', 'approver');
    await ama.get(path);
    const page = await ama.post(path, { what: 'approve' });
    expect(page.status).toBe(409);
    expect(textOf(page.html)).toMatch(/it is decided already.* esi decided before you: it is rejected/);
    expect(textOf(page.html)).toMatch(/Rejected by esi , 27\/11\/2026 11:59:00/);
    expect(page.html).not.toContain(`action="${path}`);
    expect(page.html).not.toContain('<script>alert');
  });
});

describe('what a proposal changes', () => {
  it.each([
    [
      '/approvals/orders/cm-1',
      /available now 100\.00 KES available after 80\.00 KES/,
      '/ledger/accounts/wallet%3Ademo%3AKES',
    ],
    ['/approvals/decisions/dc-1', /its hold is released, the merchant hears FAILED/, '/breaks/po-1%2Fstatus'],
    ['/approvals/settings/sc-1', /largest payout, KES 100\.00 KES 5,000\.00 KES/, '/merchants/demo'],
  ])('is shown from what to what: %s', async (path, what, to) => {
    const { html } = await (await openConsole(answers).signIn('ama')).get(path);
    expect(textOf(html)).toMatch(what);
    expect(html).toContain(`href="${to}"`);
  });

  it('is not approved while nobody can know it, and the page says why', async () => {
    const silent = { ...answers, 'ledger GET /accounts/demo/KES': answered(503, { message: 'no database' }) };
    const ama = await openConsole(silent).signIn('ama', 'approver');
    const { html } = await ama.get('/approvals/orders/cm-1');
    expect(html).not.toContain('value="approve"');
    expect(html).toContain('value="reject"');
    expect(textOf(html)).toContain('What approving does is not known now');
    expect(textOf(html)).toContain('ledger: no database');
  });

  it('is what it has changed once it is applied: its entry, and the balances around it', async () => {
    const at = '2026-11-27T09:00:00.000Z';
    const entry = {
      ...{ id: 'cm-1/withdraw', at, kind: 'withdraw', reference: 'cm-1', causationId: 'cm-1' },
      ...{ debit: 'wallet:demo:KES:available', credit: 'treasury:KES' },
    };
    const statement = {
      ...{ account: 'wallet:demo:KES', currency: 'KES', from: at, to: at, final: true, next: null },
      opening: { available: '100', held: '0' },
      closing: { available: '80', held: '0' },
      items: [{ ...entry, amount: { available: '-20', held: '0' }, balance: { available: '80', held: '0' } }],
    };
    const applied = { ...order, status: 'applied', approvedBy: 'ama', appliedAt: at };
    const ama = await openConsole({
      ...answers,
      'ledger GET /commands/cm-1': applied,
      'ledger GET /entries?reference=cm-1': pageOf({ ...entry, amount: '20', currency: 'KES' }),
      'ledger GET /statements': statement,
    }).signIn('ama');
    const { html } = await ama.get('/approvals/orders/cm-1');
    expect(textOf(html)).toMatch(
      /20\.00 KES paid from .* , 27\/11\/2026 09:00:00 Before 100\.00 KES After 80\.00 KES/,
    );
    expect(html).toContain('href="/ledger/accounts/wallet%3Ademo%3AKES?from=2026-11-27T09');
    expect(html).not.toContain('class="problem"');
  });

  it.each([
    ['bk-1', true],
    ['bk-2', false],
  ])('leads to a break only if that knows the order: %s', async (commandId, isIts) => {
    const corrects = { ...order, commandId, reason: `lost (break ${whole.id})` };
    const adjustment = {
      ...{ commandId: 'bk-1', kind: 'adjust', merchantId: 'demo', currency: 'KES', amount: '-20' },
      ...{ proposedBy: 'kofi', proposedAt: asked.requestedAt, status: 'proposed', concludedAt: null },
    };
    const ama = await openConsole({
      ...answers,
      [`ledger GET /commands/${commandId}`]: corrects,
      'reconciler GET /breaks/upstream%3AGHS%2Fbalance': { ...whole, adjustments: [adjustment] },
    }).signIn('ama');
    const { html } = await ama.get(`/approvals/orders/${commandId}`);
    expect(html.includes('The break that it corrects')).toBe(isIts);
  });

  it('can no longer be approved after its time', async () => {
    const late = { ...order, expiresAt: '2026-11-27T11:00:00Z' };
    const ama = await openConsole({ ...answers, 'ledger GET /commands/cm-1': late }).signIn('ama');
    const { html } = await ama.get('/approvals/orders/cm-1');
    expect(html).not.toContain('value="approve"');
    expect(textOf(html)).toContain('It could be approved until');
  });
});

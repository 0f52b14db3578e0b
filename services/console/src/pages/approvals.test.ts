import type { ChangeView, DecisionView, OrderView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';

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

describe('the inbox of approvals', () => {
  it('has what waits for me apart from what I asked for', async () => {
    const console = openConsole(answers);
    const ama = await console.signIn('ama');
    const { html } = await ama.get('/approvals?of=orders&cursor=c1');
    expect(console.asked.at(-1)?.what).toBe('ledger GET /commands?cursor=c1&status=proposed');
    expect(html).toContain('/approvals/orders/cm-1');
    expect(html).not.toContain('/approvals/orders/cm-2');
    expect((await ama.get('/approvals?tab=mine')).html).toContain('/approvals/orders/cm-2');
    expect(textOf((await ama.get('/approvals?tab=decided')).html)).toContain('No order was decided yet');
    expect(console.asked.at(-1)?.what).toBe('ledger GET /commands');
  });

  it('has what waits elsewhere, and says which service gave no answer', async () => {
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
    const console = openConsole({
      'ledger GET /parked': pageOf(parked),
      'payout-gateway GET /pauses': pageOf(pause),
      'collection-gateway GET /pauses': pageOf(),
    });
    const { html } = await (await console.signIn('ama')).get('/approvals?of=others');
    expect(textOf(html)).toMatch(/Discard ledger\/topic\/1\/2 kofi 4 h/);
    expect(textOf(html)).toMatch(/Resume payouts at upstream you 4 h/);
    expect(html).toContain('href="/rails/resume?what=payouts&amp;scope=rail&amp;name=upstream"');
    expect(textOf(html)).toContain('Not available: ledger: nothing for ledger GET /positions');
    expect(html).not.toContain('<script>alert');
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
    expect(html).toContain(`action="${path}/approve"`);
  });

  it('is approved or rejected by one call', async () => {
    const console = openConsole({
      ...answers,
      [`${service} POST ${apiPath}/${id}/approve`]: view,
      [`${service} POST ${apiPath}/${id}/reject`]: view,
    });
    const ama = await console.signIn('ama', 'approver');
    expect((await ama.post(`${path}/approve`)).goesTo).toBe(path);
    expect((await ama.post(`${path}/reject`, { reason: 'twice' })).goesTo).toBe(path);
    expect(changesOf(console)).toEqual([
      [`${service} POST ${apiPath}/${id}/approve`, {}],
      [`${service} POST ${apiPath}/${id}/reject`, { reason: 'twice' }],
    ]);
  });

  it('of my own has no button to approve it, and says why', async () => {
    const kofi = await openConsole(answers).signIn('kofi');
    const { html } = await kofi.get(path);
    expect(html).not.toContain(`${path}/approve`);
    expect(textOf(html)).toContain('You asked for this, so another operator must decide');
  });

  it('is not approved by the role of an operator', async () => {
    const esi = await openConsole(answers).signIn('esi', 'operator');
    const { html } = await esi.get(path);
    expect(html).not.toContain(`${path}/approve`);
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
    const page = await ama.post(`${path}/approve`);
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

  it('can no longer be approved after its time', async () => {
    const late = { ...order, expiresAt: '2026-11-27T11:00:00Z' };
    const ama = await openConsole({ ...answers, 'ledger GET /commands/cm-1': late }).signIn('ama');
    const { html } = await ama.get('/approvals/orders/cm-1');
    expect(html).not.toContain('/approve"');
    expect(textOf(html)).toContain('It could be approved until');
  });
});

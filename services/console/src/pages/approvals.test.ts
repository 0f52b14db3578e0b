import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';
import { answers, asked, change, decision, order, pageOf } from './approvals.fixture.ts';
import { changesOf, evil, row } from './breaks.fixture.ts';

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
  'ledger GET /parked?proposed=true': pageOf(parked),
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
      'reconciler GET /breaks?waitsForApproval=true&limit=50': answered(503, { message: 'full' }),
    };
    const ama = await openConsole(silent).signIn('ama');
    const { html, status } = await ama.get('/approvals');
    expect(status).toBe(200);
    // It is asked for several kinds.
    expect(textOf(html).match(/Not available: reconciler: full/g)).toHaveLength(1);
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

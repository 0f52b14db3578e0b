import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { answers, api, changesOf, evil, path, row, whole } from './breaks.fixture.ts';

const pending = {
  commandId: 'cm-1',
  kind: 'suspense',
  rail: 'upstream',
  currency: 'GHS',
  amount: '12.5',
  direction: 'shortage',
  breakId: row.id,
  requestedBy: 'kofi',
  requestedAt: row.since,
  status: 'proposed',
} as const;
const withOrders = (...items: readonly object[]) => ({
  ...answers,
  'ledger GET /commands': { items, next: null },
});

describe('a break', () => {
  it('shows the difference first, both sides, candidates and history, and links to what each is made of', async () => {
    const ama = await openConsole(answers).signIn('ama');
    const { html } = await ama.get(path);
    const text = textOf(html);
    expect(text).toContain('differs by -12.50 GHS at upstream');
    expect(text).toMatch(/balance 100\.00 GHS 87\.50 GHS differs/);
    for (const to of [
      '/ledger/accounts/float%3Aupstream%3AGHS',
      '/reconciliation/wallets/upstream/GHS',
      '/reconciliation/statements/st-1',
      '/payments/po-1',
      `${path}/adjust`,
      `${path}/resolve`,
    ])
      expect(html).toContain(`href="${to}"`);
    expect(html).not.toContain('<script>alert');
    expect(html.split('&lt;script&gt;')).toHaveLength(6);
  });

  it('that people can decide leads to the decision about its payment', async () => {
    const stuck = { ...whole, id: 'po-2/status', reference: 'po-2', kind: 'payment.stuck' };
    const ama = await openConsole({ ...answers, 'reconciler GET /breaks/po-2%2Fstatus': stuck }).signIn(
      'ama',
    );
    expect((await ama.get('/breaks/po-2%2Fstatus')).html).toContain('href="/payments/po-2/decide"');
  });

  it('shows viewers no way to change it, and says which role it takes', async () => {
    const viewer = await openConsole(answers).signIn('esi', 'viewer');
    const { html } = await viewer.get(path);
    expect(html).not.toContain(`${path}/resolve`);
    expect(textOf(html)).toContain('To change this takes the role operator.');
  });

  const proposedResolution = { by: 'kofi', at: row.since, resolution: evil };

  it('that is the same on both sides by now says so, and what it waits for', async () => {
    const level = { ...whole, theirs: '100' };
    const ama = await openConsole({ ...answers, [api]: level }).signIn('ama');
    const text = textOf((await ama.get(path)).html);
    expect(text).toContain(
      'at upstream is the same on both sides now. The observer “audit” said at 27/11/2026',
    );
    expect(text).not.toContain('differs by');
    expect(text).toContain('100.00 GHS 100.00 GHS same now –');
    const nobody = await openConsole({ ...answers, [api]: { ...level, observations: [] } }).signIn('ama');
    expect(textOf((await nobody.get(path)).html)).toContain('closes with the next observation');
  });

  it('that a statement has no line of differs, whatever the rail says of the payment', async () => {
    const kind = 'statement.not_on_statement';
    const lacking = {
      ...whole,
      theirs: '100',
      observations: [{ observer: 'statement', kind, amount: '-12.5', detail: 'no line', at: row.since }],
    };
    const ama = await openConsole({ ...answers, [api]: { ...lacking, kind, detail: 'no line' } }).signIn(
      'ama',
    );
    const text = textOf((await ama.get(path)).html);
    expect(text).toContain('differs by -12.50 GHS at upstream: no line');
    expect(text).not.toContain('same on both sides');
    expect(text).toMatch(/balance 100\.00 GHS no line differs/);
  });

  it('shows the times in what a service wrote as it shows every time', async () => {
    const told = { ...whole, detail: 'since 2026-11-27T08:30:00.000Z' };
    const ama = await openConsole({ ...answers, [api]: told }).signIn('ama');
    const { html } = await ama.get(path);
    expect(textOf(html)).toMatch(/differs by -12\.50 GHS at upstream: since 27\/11\/2026 08:30:00/);
    expect(textOf(html)).not.toContain('2026-11-27T');
  });

  it('of a line that names no payment has no timeline; its history has words for codes, and an end', async () => {
    const text = 'statement.not_in_books: a line names no payment';
    const line = {
      ...whole,
      id: 'po-9/existence',
      reference: 'po-9',
      kind: 'statement.not_in_books',
      status: 'resolved' as const,
      resolvedAt: '2026-11-27T08:05:00Z',
      resolution: 'the payment ended: PayoutFailed, decided by people',
      history: [{ at: row.since, by: null, what: 'found again', text, amount: null }],
    };
    const ama = await openConsole({ ...answers, 'reconciler GET /breaks/po-9%2Fexistence': line }).signIn(
      'ama',
    );
    const { html } = await ama.get('/breaks/po-9%2Fexistence');
    const shown = textOf(html);
    expect(html).not.toContain('/payments/po-9');
    expect(shown).not.toContain('Its timeline');
    expect(shown).toContain('statement: not in our books: a line names no payment');
    expect(shown).toContain('Was open 27/11/2026 08:00:00 to 27/11/2026 08:05:00');
    expect(shown).not.toContain('Open since');
    expect(shown).toContain('the payment ended: payout failed, decided by people');
  });

  it('is resolved for much money by an approver, as another operator proposes', async () => {
    const console = openConsole({
      ...answers,
      [api]: { ...whole, proposedResolution },
      [`reconciler POST ${path}/resolve`]: whole,
    });
    const ama = await console.signIn('ama', 'approver');
    const page = await ama.get(path);
    expect(textOf(page.html)).toContain('kofi proposes: &lt;script&gt;');
    for (const act of ['resolve', 'reject']) expect(page.html).toContain(`href="${path}/${act}"`);
    const { html } = await ama.get(`${path}/resolve`);
    expect(html).toContain('name="approves" value="kofi"');
    expect(html).not.toContain('name="resolution"');
    await ama.post(`${path}/resolve`, { approves: 'kofi', version: '3' });
    expect(changesOf(console)).toEqual([
      [`reconciler POST ${path}/resolve`, { approves: 'kofi', version: 3 }],
    ]);
  });

  it.each([
    ['kofi', 'approver', 'You propose'],
    ['ama', 'operator', 'kofi proposes'],
  ] as const)('is offered to %s, %s, for no second resolution', async (name, role, says) => {
    const console = openConsole({ ...answers, [api]: { ...whole, proposedResolution } });
    const visitor = await console.signIn(name, role);
    const { html } = await visitor.get(path);
    expect(textOf(html)).toContain(says);
    expect(html).not.toContain(`${path}/resolve`);
    expect(html).toContain(`href="${path}/reject"`);
    expect((await visitor.get(`${path}/resolve`)).html).not.toContain('name="approves"');
  });

  it.each([
    ['assign', 'operator'],
    ['notes', 'text'],
    ['explain', 'explanation'],
    ['resolve', 'resolution'],
    ['reject', 'reason', 'resolve/reject'],
    ['reopen', 'reason'],
  ])('takes %s with the version that was seen', async (act, field, at = act) => {
    const console = openConsole({ ...answers, [`reconciler POST ${path}/${at}`]: whole });
    const ama = await console.signIn('ama');
    expect((await ama.get(`${path}/${act}`)).html).toContain('name="version" value="3"');
    const { goesTo } = await ama.post(`${path}/${act}`, { [field]: 'kofi', version: '3' });
    expect(goesTo).toBe(path);
    expect(changesOf(console)).toEqual([[`reconciler POST ${path}/${at}`, { [field]: 'kofi', version: 3 }]]);
  });

  it('shows the form again with what was written, and who was faster', async () => {
    const refusal = answered(409, { code: 'changed', message: 'version: the break has changed' });
    const resolved = { ...whole, status: 'resolved', resolvedBy: 'kofi', resolvedAt: '2026-11-27T11:59:00Z' };
    const console = openConsole({
      ...answers,
      [api]: resolved,
      [`reconciler POST ${path}/resolve`]: refusal,
    });
    const ama = await console.signIn('ama');
    const page = await ama.post(`${path}/resolve`, { resolution: evil, version: '3' });
    expect(page.status).toBe(409);
    expect(page.html).toContain('value="&lt;script&gt;');
    expect(textOf(page.html)).toMatch(/resolved by kofi , 27\/11\/2026 11:59:00.*the break has changed/);
  });
});

describe('the correction of a break', () => {
  const asked = { step: 'foresee', amount: '-12.50', explanation: 'lost' };

  it('begins with the amount and the sign that make both sides the same', async () => {
    const ama = await openConsole({ ...answers, [api]: { ...whole, theirs: '1100' } }).signIn('ama');
    const { html } = await ama.get(`${path}/adjust`);
    expect(html).toContain('value="+1000"');
    expect(textOf(html)).toContain('+1,000.00 GHS makes both sides the same; write + if our float');
  });

  it('shows what would happen, then places the order that names the break', async () => {
    const console = openConsole({ ...answers, 'ledger POST /commands/suspense': answered(202, pending) });
    const ama = await console.signIn('ama');
    const { html } = await ama.post(`${path}/adjust`, asked);
    expect(textOf(html)).toMatch(/float now 100\.00 GHS float after 87\.50 GHS .* drift after 0\.00 GHS/);
    const [, commandId = ''] = /name="commandId" value="(bk-[0-9a-f]{48})"/.exec(html) ?? [];
    expect(changesOf(console)).toEqual([]);
    const fields = { commandId, version: '3', amount: '-12.50', explanation: 'lost' };
    expect((await ama.post(`${path}/adjust`, fields)).goesTo).toBe(path);
    const terms = { rail: 'upstream', commandId, currency: 'GHS', amount: '12.5', direction: 'shortage' };
    expect(changesOf(console)).toEqual([
      ['ledger POST /commands/suspense', { ...terms, reason: 'lost', breakId: row.id }],
    ]);
    const stale = await ama.post(`${path}/adjust`, { ...fields, version: '2' });
    expect([stale.status, changesOf(console).length]).toEqual([409, 1]);
    expect(textOf(stale.html)).toContain('the break has changed since you looked at it');
  });

  it('is not placed while another order for the break may be booked, but again under the same id', async () => {
    const approved = { ...pending, status: 'approved' };
    const taken = { ...withOrders(approved), 'ledger POST /commands/suspense': answered(202, approved) };
    const console = openConsole(taken);
    const ama = await console.signIn('ama');
    const fields = { commandId: 'bk-1', version: '3', amount: '-12.50', explanation: 'lost' };
    const page = await ama.post(`${path}/adjust`, fields);
    expect([page.status, changesOf(console)]).toEqual([409, []]);
    expect(textOf(page.html)).toContain('the order cm-1 for this break is approved');
    expect((await ama.post(`${path}/adjust`, { ...fields, commandId: 'cm-1' })).goesTo).toBe(path);
    const early = await openConsole({ ...taken, [api]: { ...whole, waitsFor: 'end' } }).signIn('ama');
    expect((await early.post(`${path}/adjust`, { ...fields, commandId: 'cm-1' })).status).toBe(409);
  });

  it('says why the ledger refuses the order', async () => {
    const unknown = answered(409, { code: 'unknown_rail', message: 'rail: there is none of this name' });
    const console = openConsole({ ...answers, 'ledger POST /commands/suspense': unknown });
    const ama = await console.signIn('ama');
    const fields = { commandId: 'cm-1', version: '3', amount: '-12.50', explanation: evil };
    const page = await ama.post(`${path}/adjust`, fields);
    expect(page.status).toBe(409);
    expect(textOf(page.html)).toContain('rail: there is none of this name');
    expect(page.html).not.toContain('<script>alert');
  });

  it.each([
    ['12.50', 'write + or - before it'],
    ['-1,23', 'amount: -1,23'],
    ['+12.50', 'this makes the drift larger: write it with a -'],
    ['-12.505', 'amount: -12.505'],
  ])('asks for no order of %s', async (amount, why) => {
    const ama = await openConsole(answers).signIn('ama');
    const { html } = await ama.post(`${path}/adjust`, { ...asked, amount });
    expect(html).toContain(why);
    expect(html).not.toContain('name="commandId"');
  });

  it('takes an amount with separators', async () => {
    const ama = await openConsole(answers).signIn('ama');
    const { html } = await ama.post(`${path}/adjust`, { ...asked, amount: '-1,234.50' });
    expect(textOf(html)).toContain('Propose 1,234.50 GHS that the rail lacks');
  });

  it.each([
    [pending, true],
    [{ ...pending, status: 'approved' }, true],
    [{ ...pending, status: 'applied' }, true],
    [{ ...pending, status: 'rejected' }, false],
    [{ ...pending, expiresAt: '2026-11-27T11:00:00Z' }, false],
  ])('is one at a time: %o', async (order, waits) => {
    const ama = await openConsole(withOrders(order)).signIn('ama');
    const { html } = await ama.get(`${path}/adjust`);
    expect(textOf(html).includes('waits already: it must be approved, or rejected, first')).toBe(waits);
    expect(html.includes('name="amount"')).toBe(!waits);
    expect(textOf((await ama.get(path)).html).includes('once it is booked, this break is resolved')).toBe(
      waits,
    );
  });

  it('can be made again once the order before is booked, and not while its payment is open', async () => {
    const booked = { ...whole, corrections: ['cm-1'] };
    const orders = withOrders({ ...pending, status: 'applied' });
    const ama = await openConsole({ ...orders, [api]: booked }).signIn('ama');
    expect((await ama.get(`${path}/adjust`)).html).toContain('name="amount"');
    const early = await openConsole({ ...answers, [api]: { ...whole, waitsFor: 'end' } }).signIn('ama');
    expect(textOf((await early.get(`${path}/adjust`)).html)).toContain('waits for the end of its payment');
  });
});

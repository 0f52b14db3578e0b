import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { answers, api, changesOf, evil, path, row, whole } from './breaks.fixture.ts';

const pending = {
  commandId: 'bk-1',
  kind: 'suspense' as const,
  rail: 'upstream',
  currency: 'GHS',
  amount: '-12.5',
  proposedBy: 'kofi',
  proposedAt: row.since,
  status: 'proposed' as const,
  concludedAt: null,
};

describe('a break', () => {
  it('shows the difference first, both sides, candidates and history, and links to what each is made of', async () => {
    const ama = await openConsole(answers).signIn('ama');
    const { html } = await ama.get(path);
    const text = textOf(html);
    expect(text).toContain('differs by -12.50 GHS at upstream');
    expect(text).toMatch(/balance 100\.00 GHS 87\.50 GHS ✗ differs/);
    for (const to of [
      '/ledger/accounts/float%3Aupstream%3AGHS',
      '/reconciliation/wallets/upstream/GHS',
      '/reconciliation/statements/st-1',
      '/payments/po-1',
      `${path}/adjust?amount=-12.5`,
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

  it('says whose resolution waits for another, and offers no second one to the same person', async () => {
    const proposed = { ...whole, resolutionProposedBy: 'ama' };
    const console = openConsole({ ...answers, [api]: proposed });
    const [own, other] = [await console.signIn('ama'), await console.signIn('kofi')];
    const { html } = await own.get(path);
    expect(textOf(html)).toContain('you would, and another must too');
    expect(html).not.toContain(`${path}/resolve`);
    expect((await other.get(path)).html).toContain(`${path}/resolve`);
  });

  it.each([
    ['assign', 'operator'],
    ['notes', 'text'],
    ['explain', 'explanation'],
    ['resolve', 'resolution'],
    ['reopen', 'reason'],
  ])('takes %s with the version that was seen', async (act, field) => {
    const console = openConsole({ ...answers, [`reconciler POST ${path}/${act}`]: whole });
    const ama = await console.signIn('ama');
    expect((await ama.get(`${path}/${act}`)).html).toContain('name="version" value="3"');
    const { goesTo } = await ama.post(`${path}/${act}`, { [field]: 'kofi', version: '3' });
    expect(goesTo).toBe(path);
    expect(changesOf(console)).toEqual([[`reconciler POST ${path}/${act}`, { [field]: 'kofi', version: 3 }]]);
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
    expect(textOf(page.html)).toMatch(/the break has changed.*resolved by kofi , 27\/11\/2026 11:59:00/);
  });
});

describe('the correction of a break', () => {
  const asked = `${path}/adjust?amount=-12.50&explanation=lost`;

  it('shows what would happen, then notes the order at the break and places it', async () => {
    const console = openConsole({
      ...answers,
      [`reconciler POST ${path}/adjustment`]: whole,
      'ledger POST /commands/suspense': answered(202, {
        commandId: 'bk-1',
        kind: 'suspense',
        rail: 'upstream',
        currency: 'GHS',
        amount: '12.5',
        status: 'proposed',
        requestedBy: 'ama',
        requestedAt: row.since,
      }),
    });
    const ama = await console.signIn('ama');
    const { html } = await ama.get(asked);
    expect(textOf(html)).toMatch(/float now 100\.00 GHS float after 87\.50 GHS .* drift after 0\.00 GHS/);
    const [, commandId = ''] = /name="commandId" value="(bk-[0-9a-f]{24})"/.exec(html) ?? [];
    expect(changesOf(console)).toEqual([]);
    const fields = { commandId, version: '3', amount: '-12.50', explanation: 'lost' };
    expect((await ama.post(`${path}/adjust`, fields)).goesTo).toBe(path);
    const terms = { rail: 'upstream', commandId, currency: 'GHS' };
    expect(changesOf(console)).toEqual([
      [`reconciler POST ${path}/adjustment`, { ...terms, amount: '-12.5', explanation: 'lost', version: 3 }],
      [
        'ledger POST /commands/suspense',
        { ...terms, amount: '12.5', direction: 'shortage', reason: 'lost (break upstream:GHS/balance)' },
      ],
    ]);
  });

  it('frees the break again if the ledger refuses the order itself', async () => {
    const unknown = answered(409, { code: 'unknown_rail', message: 'rail: there is none of this name' });
    const console = openConsole({
      ...answers,
      [`reconciler POST ${path}/adjustment`]: whole,
      [`reconciler POST ${path}/withdraw`]: whole,
      'ledger POST /commands/suspense': unknown,
    });
    const ama = await console.signIn('ama');
    const fields = { commandId: 'bk-1', version: '3', amount: '-12.50', explanation: evil };
    const page = await ama.post(`${path}/adjust`, fields);
    expect([page.status, changesOf(console).at(-1)?.[0]]).toEqual([409, `reconciler POST ${path}/withdraw`]);
    expect(textOf(page.html)).toContain('rail: there is none of this name');
    expect(page.html).not.toContain('<script>alert');
  });

  it.each([
    ['12.50', 'write + or - before it'],
    ['+12.50', 'this makes the drift larger: write it with a -'],
    ['-12.505', 'amount: -12.505'],
  ])('asks for no order of %s', async (amount, why) => {
    const ama = await openConsole(answers).signIn('ama');
    const { html } = await ama.get(`${path}/adjust?amount=${encodeURIComponent(amount)}&explanation=lost`);
    expect(html).toContain(why);
    expect(html).not.toContain('name="commandId"');
  });

  it.each([
    ['proposed', 'waits already', 'must be approved, or rejected, first'],
    ['rejected', 'will never be booked', 'Free the break from this order'],
    [undefined, 'never reached the ledger', 'Ask for it again'],
  ])('deals with an order that is %s', async (status, says, button) => {
    const order = {
      ...pending,
      kind: 'suspense',
      amount: '12.5',
      requestedBy: 'kofi',
      requestedAt: row.since,
    };
    const console = openConsole({
      ...answers,
      [api]: { ...whole, adjustments: [pending] },
      [`reconciler POST ${path}/withdraw`]: whole,
      ...(status !== undefined && { 'ledger GET /commands/bk-1': { ...order, status } }),
    });
    const ama = await console.signIn('ama');
    const { html } = await ama.get(asked);
    expect(textOf(html)).toContain(says);
    expect(html).toContain(button);
    expect(html).not.toContain('What would happen');
    expect((await ama.post(`${path}/withdraw`, { commandId: 'bk-1' })).goesTo).toBe(path);
  });
});

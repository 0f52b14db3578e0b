import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import { answers, order, pageOf } from './approvals.fixture.ts';
import { whole } from './breaks.fixture.ts';

describe('what a proposal changes', () => {
  it.each([
    [
      '/approvals/orders/cm-1',
      /available now 100\.00 KES available after 80\.00 KES/,
      '/ledger/accounts/wallet%3Ademo%3AKES',
    ],
    ['/approvals/decisions/dc-1', /its hold is released, the merchant hears FAILED/, '/breaks/po-1%2Fstatus'],
    ['/approvals/settings/sc-1', /largest payout, KES: from 100\.00 KES to 5,000\.00 KES/, '/merchants/demo'],
  ])('is shown from what to what: %s', async (path, what, to) => {
    const { html } = await (await openConsole(answers).signIn('ama')).get(path);
    expect(textOf(html)).toMatch(what);
    expect(html).toContain(`href="${to}"`);
    // What stands out is to approve, not to reject.
    expect(html).toMatch(
      /value="approve">.*class="primary">Approve.*value="reject">.*class="danger">Reject/s,
    );
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
      id: 'cm-1/withdraw',
      at,
      kind: 'withdraw',
      reference: 'cm-1',
      causationId: 'cm-1',
      debit: 'wallet:demo:KES:available',
      credit: 'treasury:KES',
    };
    const statement = {
      account: 'wallet:demo:KES',
      currency: 'KES',
      from: at,
      to: at,
      final: true,
      next: null,
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
    expect(html).not.toMatch(/class="(?:problem|state bad)"/);
  });

  it.each([
    ['open', false],
    ['resolved', true],
  ])('leads to the break that it corrects, and warns if that is over: %s', async (status, warns) => {
    const ama = await openConsole({
      ...answers,
      'ledger GET /commands/cm-1': { ...order, breakId: whole.id },
      'reconciler GET /breaks/upstream%3AGHS%2Fbalance': { ...whole, status },
    }).signIn('ama');
    const { html } = await ama.get('/approvals/orders/cm-1');
    expect(html).toContain('The break that it corrects');
    expect(html.includes('resolved already: what it corrects may be corrected twice')).toBe(warns);
  });

  it('warns of another order for its break that may be booked', async () => {
    const corrects = { ...order, breakId: whole.id };
    const of = (other: object, corrections: readonly string[] = []) => ({
      ...answers,
      'ledger GET /commands': pageOf(corrects, { ...corrects, commandId: 'cm-2', ...other }),
      'ledger GET /commands/cm-1': corrects,
      'reconciler GET /breaks/upstream%3AGHS%2Fbalance': { ...whole, corrections },
    });
    const shown = async (given: ReturnType<typeof of>) =>
      textOf((await (await openConsole(given).signIn('ama')).get('/approvals/orders/cm-1')).html);
    const warning = 'the order cm-2 for the same break is approved: what it corrects may be corrected twice';
    expect(await shown(of({ status: 'approved' }))).toContain(warning);
    expect(await shown(of({ status: 'approved' }, ['cm-2']))).not.toContain('corrected twice');
    expect(await shown(of({ status: 'rejected' }))).not.toContain('corrected twice');
  });

  it('can no longer be approved after its time', async () => {
    const late = { ...order, expiresAt: '2026-11-27T11:00:00Z' };
    const ama = await openConsole({ ...answers, 'ledger GET /commands/cm-1': late }).signIn('ama');
    const { html } = await ama.get('/approvals/orders/cm-1');
    expect(html).not.toContain('value="approve"');
    expect(textOf(html)).toContain('It could be approved until');
  });
});

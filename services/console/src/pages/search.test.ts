import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from '../console.fixture.ts';
import {
  collection,
  decision,
  HOSTILE,
  listed,
  page,
  payout,
  shownBreak,
  webhook,
} from './payment.fixture.ts';
import { statement } from './reconciliation.fixture.ts';

const BATCH = 'ba-01a21b0e9a167aca9acadd8cd0719531';
const inBatch = (reference: string, batchReference: string) => ({ ...payout, reference, batchReference });

const search = async (query: string, answers: Parameters<typeof openConsole>[0] = {}) => {
  const { signIn, asked } = openConsole(answers);
  const found = await (await signIn('ama', 'viewer')).get(`/search?${query}`);
  return { ...found, text: textOf(found.html), asked: asked.map(({ what }) => what) };
};

describe('search', () => {
  it.each([
    ['po-1', 'payout-gateway GET /payments?reference=po-1', payout, '/payments/po-1'],
    ['co-1', 'collection-gateway GET /payments?reference=co-1', collection, '/payments/co-1'],
    ['po-1/status', 'reconciler GET /breaks/po-1%2Fstatus', shownBreak, '/breaks/po-1%2Fstatus'],
    ['st-1', 'reconciler GET /statements/st-1', statement, '/reconciliation/statements/st-1'],
    ['cm-1', 'ledger GET /commands/cm-1', order(), '/approvals/orders/cm-1'],
    ['dc-1', 'reconciler GET /decisions/dc-1', decision, '/approvals/decisions/dc-1'],
    [
      'po-1-failed',
      'webhook-dispatcher GET /deliveries/po-1-failed',
      whole(),
      '/webhooks/deliveries/po-1-failed',
    ],
  ])('of %s goes straight to it', async (id, asked, answer, path) => {
    const found = await search(`q=${encodeURIComponent(id)}`, { [asked]: answer });
    expect([found.status, found.goesTo]).toEqual([303, path]);
  });

  it('knows the names of accounts', async () => {
    const { goesTo } = await search('q=wallet:demo:GHS');
    expect(goesTo).toBe('/ledger/accounts/wallet%3Ademo%3AGHS');
  });

  it("finds payments by their merchant's reference, whoever the merchant is", async () => {
    const named = (service: string) => `${service} GET /payments/list?merchantReference=order-1&limit=20`;
    const one = await search('q=order-1', { [named('payout-gateway')]: page(listed) });
    expect(one.goesTo).toBe('/payments/po-1');
    const collected = page({ ...listed, reference: 'co-1' });
    const both = { [named('payout-gateway')]: page(listed), [named('collection-gateway')]: collected };
    const two = await search('q=order-1', both);
    expect(two.html).toContain('href="/payments/po-1"');
    expect(two.html).toContain('href="/payments/co-1"');
  });

  it('finds merchants by their names, and rails by theirs', async () => {
    const merchant = { id: 'kofi-shop', name: "Kofi's", status: 'active' };
    const found = { 'ledger GET /merchants?search=kofi&limit=20': page(merchant) };
    expect((await search('q=kofi', found)).goesTo).toBe('/merchants/kofi-shop');
  });

  it('finds the payouts of a batch, and no others of its time', async () => {
    const found = await search(`q=${BATCH}`, {
      [`payout-gateway GET /payments/list?merchantReference=${BATCH}&limit=20`]: page(),
      'payout-gateway GET /payments/list': page(
        { ...listed, reference: 'po-2' },
        { ...listed, reference: 'po-3' },
        listed,
      ),
      'payout-gateway GET /payments?reference=po-1': payout,
      'payout-gateway GET /payments?reference=po-2': inBatch('po-2', BATCH),
      'payout-gateway GET /payments?reference=po-3': inBatch('po-3', BATCH),
    });
    expect(found.asked).toContain(
      'payout-gateway GET /payments/list?from=2026-11-27T03%3A31%3A11.510Z&to=2026-11-27T03%3A31%3A13.510Z&limit=20',
    );
    expect(found.text).toContain('payment po-2 of demo');
    expect(found.text).not.toContain('po-1');
  });

  it('says what was tried if nothing is found, in the words that were written', async () => {
    const { status, html, text } = await search(`q=${encodeURIComponent(HOSTILE)}`);
    expect(status).toBe(200);
    expect(text).toContain('It was looked up as a reference of a payment');
    expect(html).not.toContain('<script>alert');
  });

  it('says where there is too much to look through', async () => {
    const broad = answered(400, { code: 'too_broad', message: 'name the merchant' });
    const { text } = await search('q=order-9', { 'payout-gateway GET /payments/list': broad });
    expect(text).toContain('Not looked up everywhere: payout-gateway: name the merchant');
  });

  it('says who gave no answer', async () => {
    const down = answered(503, { code: 'unavailable', message: 'no database' });
    const { text } = await search('q=order-9', { 'reconciler GET /breaks': down });
    expect(text).toContain('Not looked up everywhere: reconciler: no database');
  });
});

function whole() {
  return { ...webhook, address: null, body: '{}', headers: {} };
}

function order() {
  const terms = { kind: 'fund', merchantId: 'demo', currency: 'GHS', amount: '5' };
  return {
    commandId: 'cm-1',
    ...terms,
    status: 'proposed',
    requestedBy: 'ama',
    requestedAt: payout.acceptedAt,
  };
}

import type { AccountStatementView, OrderView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';

const HOSTILE = `<script>"'&`;
const line = (account: string, debit: string, credit: string, currency = 'GHS') => ({
  currency,
  account,
  debit,
  credit,
});

const page = async (path: string, answers: Answers, role: 'viewer' | 'operator' = 'operator') => {
  const console = openConsole(answers);
  const { html, status } = await (await console.signIn('ama', role)).get(path);
  return { html, status, text: textOf(html), asked: console.asked.map(({ what }) => what) };
};

describe('the trial balance', () => {
  const path = 'ledger GET /trial-balance';

  it('shows both sides of each currency, and each account leads to its statement', async () => {
    const items = [line('float:upstream:GHS', '1000.5', '0'), line('wallets:held:GHS', '0', '1000.5')];
    const { text, html } = await page('/ledger', { [path]: { items, next: null } });
    expect(text).toContain('Debits and credits are the same in every currency.');
    expect(text).toMatch(/In all 1,000\.50 GHS +1,000\.50 GHS/);
    expect(html).toContain('href="/ledger/accounts/float%3Aupstream%3AGHS"');
    expect(html).toContain('href="/merchants?currency=GHS"');
    expect(text).toContain('reconciler: nothing for reconciler GET /status');
  });

  it('says in which currency the sides differ', async () => {
    const items = [line('treasury:KES', '0', '3', 'KES'), line('float:upstream:GHS', '1', '1')];
    const { text } = await page('/ledger', { [path]: { items, next: null } });
    expect(text).toContain('Debits and credits differ: KES:');
  });

  it('says what would stand there, and shows orders to operators only', async () => {
    const empty = { [path]: { items: [], next: null } };
    const forViewer = await page('/ledger', empty, 'viewer');
    expect(forViewer.text).toContain('Nothing is booked yet');
    expect(forViewer.text).toContain('It takes an operator');
    expect(forViewer.html).not.toContain('/ledger/orders/new');
    expect((await page('/ledger', empty)).html).toContain('/ledger/orders/new?kind=fund-float"');
  });
});

const statement: AccountStatementView = {
  account: 'wallet:demo:GHS',
  currency: 'GHS',
  from: '2026-11-27T00:00:00.000Z',
  to: '2026-11-27T12:00:00.000Z',
  final: false,
  opening: { available: '10', held: '0' },
  closing: { available: '7', held: '3' },
  items: [
    {
      id: 'po-1/hold',
      at: '2026-11-27T08:00:00.000Z',
      kind: 'hold',
      reference: 'po-1',
      causationId: `ev-${HOSTILE}`,
      debit: 'wallet:demo:GHS:available',
      credit: 'wallet:demo:GHS:held',
      amount: { available: '-3', held: '3' },
      balance: { available: '7', held: '3' },
    },
    {
      id: 'cm-1/fund',
      at: '2026-11-27T09:00:00.000Z',
      kind: 'fund',
      reference: 'cm-1',
      causationId: 'cm-1',
      debit: 'treasury:GHS',
      credit: 'wallet:demo:GHS:available',
      amount: { available: '1', held: '0' },
      balance: { available: '8', held: '3' },
    },
  ],
  next: 'after-two',
};
const PATH = '/ledger/accounts/wallet:demo:GHS';
const asked = 'ledger GET /statements';

describe('a statement', () => {
  it('has running balances, and leads to the payment, the order and the other account', async () => {
    const { html, text } = await page(PATH, { [asked]: statement });
    expect(text).toContain('GHS wallet of demo');
    expect(text).toMatch(/hold within the wallet -3\.00 GHS +3\.00 GHS +7\.00 GHS +3\.00 GHS/);
    for (const path of [
      '/payments/po-1',
      '/approvals/orders/cm-1',
      '/ledger/accounts/treasury%3AGHS',
      '/merchants/demo',
    ])
      expect(html).toContain(`href="${path}"`);
    expect(html).not.toContain('<script>"');
    expect(html).toContain('ev-&lt;script&gt;&quot;');
  });

  it('asks for whole days of the zone, and its next page ends where this one did', async () => {
    const { asked: found, html } = await page(`${PATH}?from=2026-11-01&to=2026-11-02`, {
      [asked]: statement,
    });
    expect(found).toContain(
      `${asked}?account=wallet%3Ademo%3AGHS&from=2026-11-01T00%3A00%3A00.000Z&to=2026-11-03T00%3A00%3A00.000Z&limit=50`,
    );
    expect(html).toContain('to=2026-11-27T12%3A00%3A00.000Z&amp;cursor=after-two');
    expect(html).toContain('/statement.csv?from=2026-11-01&amp;to=2026-11-02');
    expect(html).toMatch(/name="from"[^>]* value="01\/11\/2026"/);
  });

  it('says that no entry has touched the account, or what is wrong with the period', async () => {
    expect((await page(PATH, {})).text).toContain('No entry has touched this account yet');
    const refused = answered(400, { code: 'invalid', message: 'to must not be before from' });
    const { text } = await page(`${PATH}?from=2026-11-02&to=2026-11-01`, { [asked]: refused });
    expect(text).toContain('ledger: to must not be before from');
  });

  it.each([
    ['from=x', 'from: x is no time: write 27/11/2026'],
    ['to=2026-02-31', 'to: 2026-02-31 is no time: write 27/11/2026'],
  ])('names the field of a wrong day: %s', async (query, why) => {
    const { text, status, asked: found } = await page(`${PATH}?${query}`, { [asked]: statement });
    expect([status, found]).toEqual([200, []]);
    expect(text).toContain(why);
  });

  it('takes days as pages write them', async () => {
    const { asked: found } = await page(`${PATH}?from=01/11/2026&to=02/11/2026`, { [asked]: statement });
    expect(found[0]).toContain('from=2026-11-01T00%3A00%3A00.000Z&to=2026-11-03T00%3A00%3A00.000Z');
  });

  it('of suspense says what to do about the costs of a rail, which no order books', async () => {
    const { text, html } = await page('/ledger/accounts/suspense:GHS', {});
    expect(text).toContain("No order books suspense to a rail's costs.");
    expect(html).toContain('href="/breaks?currency=GHS&amp;status=any"');
  });

  it('is saved as CSV, page by page, where no cell is a formula', async () => {
    const strange = { ...statement.items[1], reference: '=1+1' };
    const last = { ...statement, items: [strange], next: null };
    const period = 'account=wallet%3Ademo%3AGHS&from=2026-11-27T00%3A00%3A00.000Z';
    const console = openConsole({
      [`${asked}?${period}&limit=500`]: statement,
      [`${asked}?${period}&to=2026-11-27T12%3A00%3A00.000Z&cursor=after-two&limit=500`]: last,
    });
    const { html, answer } = await (await console.signIn('ama', 'viewer')).get(`${PATH}/statement.csv`);
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="wallet-demo-GHS_[\w.-]+\.csv"$/,
    );
    const rows = html.trim().split('\r\n');
    expect(rows).toHaveLength(6);
    expect(rows[1]).toBe('2026-11-27T00:00:00.000Z,opening,,,,GHS,,,10,0');
    expect(rows[4]).toContain(",'=1+1,");
    expect(rows[5]).toBe('2026-11-27T12:00:00.000Z,closing,,,,GHS,,,7,3');
  });
});

describe('an order of money', () => {
  const order: OrderView = {
    commandId: 'cm-9',
    kind: 'fund',
    currency: 'GHS',
    amount: '2500.5',
    status: 'proposed',
    requestedBy: 'ama',
    requestedAt: '2026-11-27T12:00:00Z',
  };
  const filled = { kind: 'fund', merchantId: 'demo', currency: 'GHS', amount: '2500.5', reason: '<script>' };
  const wallet = { merchantId: 'demo', currency: 'GHS', available: '100', held: '0', sequence: 1 };
  const balance = { 'ledger GET /accounts/demo/GHS': wallet };
  const foresee = async (fields: Readonly<Record<string, string>>, answers: Answers = balance) => {
    const console = openConsole(answers);
    const ama = await console.signIn('ama', 'operator');
    const { html } = await ama.post('/ledger/orders/new', { step: 'foresee', ...filled, ...fields });
    const found = console.asked.map(({ what }) => what).filter((what) => what.startsWith('ledger'));
    return { html, text: textOf(html), found };
  };

  it.each(['2500.5', '2,500.50', '2 500.5'])(
    'shows what %s would do and leave, before it is sent',
    async (amount) => {
      const { text, html, found } = await foresee({ amount });
      expect(text).toContain('2,500.50 GHS received by the treasury, into the GHS wallet of demo.');
      expect(text).toMatch(/available now 100\.00 GHS available after 2,600\.50 GHS/);
      expect(html).toMatch(/name="commandId" value="cm-\d+"/);
      expect(html).not.toContain('<script>"');
      expect(html).toContain('value="&lt;script&gt;"');
      expect(found.filter((what) => what.includes('POST'))).toEqual([]);
    },
  );

  it.each([
    [{ amount: '2,50' }, 'amount must be a decimal number'],
    [{ amount: '-1' }, 'amount must be greater than zero'],
    [{ amount: '1.234' }, 'amount must have at most 2 decimals'],
    [{ currency: 'XXQ' }, 'currency must be an ISO 4217 code'],
    [{ merchantId: '' }, 'merchantId'],
  ])('with %j is not offered, and says why', async (fields, problem) => {
    const { text, html } = await foresee(fields);
    expect(text).toContain(`Not done. ${problem}`);
    expect(html).not.toContain('name="commandId"');
  });

  it('is not offered while its effect is not known, and keeps what was written', async () => {
    const silent = { 'ledger GET /accounts/demo/GHS': answered(503, { message: 'no database' }) };
    const { text, html } = await foresee({}, silent);
    expect(text).toContain('Not done. ledger: no database');
    expect(html).not.toContain('name="commandId"');
    expect(html).toContain('value="2500.5"');
  });

  it('warns if nothing has ever touched the wallet', async () => {
    const { text, html } = await foresee({ merchantId: 'dmo' });
    expect(text).toContain('no entry has touched this wallet yet: check the merchant and the currency');
    expect(html).toContain('name="commandId"');
  });

  it('warns if a wallet would give more than it has', async () => {
    const { text } = await foresee({ kind: 'withdraw' });
    expect(text).toContain('the ledger would refuse this');
    expect(text).toContain('-2,400.50 GHS');
  });

  it('is sent once with its id, and leads to its page', async () => {
    const console = openConsole({ 'ledger POST /commands/fund': answered(202, order) });
    const fields = {
      kind: 'fund',
      merchantId: 'demo',
      currency: 'GHS',
      amount: '2,500.5',
      commandId: 'cm-9',
      reason: '',
    };
    const ama = await console.signIn('ama', 'operator');
    expect((await ama.post('/ledger/orders/new', fields)).goesTo).toBe('/approvals/orders/cm-9');
    expect(console.asked.filter(({ what }) => what.includes('POST'))).toEqual([
      {
        what: 'ledger POST /commands/fund',
        body: { merchantId: 'demo', currency: 'GHS', amount: '2500.5', commandId: 'cm-9' },
        by: 'ama',
      },
    ]);
  });

  it('that is refused is shown again with the reason and what was written', async () => {
    const refusal = { code: 'unknown_wallet', message: 'demo has no GHS wallet' };
    const console = openConsole({ ...balance, 'ledger POST /commands/adjust': answered(409, refusal) });
    const fields = {
      kind: 'adjust',
      merchantId: 'demo',
      currency: 'GHS',
      amount: '5',
      direction: 'debit',
      reason: 'twice',
    };
    const { status, html } = await (await console.signIn('ama', 'operator')).post(
      '/ledger/orders/new',
      fields,
    );
    expect([status, textOf(html).includes('Not done. ledger: demo has no GHS wallet')]).toEqual([409, true]);
    expect(html).toMatch(/name="reason"[^>]* value="twice"/);
    expect(html).toContain('value="debit" selected');
  });

  it('is proposed by operators only', async () => {
    const { html, text } = await page('/ledger/orders/new?kind=fund', balance, 'viewer');
    expect([html.includes('<select'), text.includes('takes the role operator')]).toEqual([false, true]);
  });
});

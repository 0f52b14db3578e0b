import type { ChangeView, MerchantSummaryView, SettingView, TakenChangeView } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';

const HOSTILE = `<script>alert("'")</script>`;
const set = (field: string, value: string, currency: string | null = null): SettingView => ({
  field,
  value,
  currency,
});
const settings = [
  set('name', HOSTILE),
  set('status', 'active'),
  set('keys.8047dca0ab6a', 'payouts, collections until 2026-11-01T00:00:00.000Z'),
  set('allowedAddresses', '192.0.2.7, 198.51.100.0/24'),
  set('wallets.GHS.country', 'GHA'),
  set('wallets.GHS.payoutFee.percent', '1.5'),
  set('wallets.GHS.payoutFee.min', '0.1', 'GHS'),
  set('webhooks.payoutsUrl', 'https://shop.example/payouts'),
  set('limits.requestsPerSecond', '50'),
  set('limits.perPayoutMax.GHS', '5000', 'GHS'),
];
const change = {
  id: 'sc-1',
  merchantId: 'demo',
  kind: 'limits',
  fields: [{ field: 'limits.perPayoutMax.GHS', from: null, to: '5000', currency: 'GHS' }],
  reason: HOSTILE,
  status: 'proposed',
  requestedBy: 'kofi',
  requestedAt: '2026-11-27T08:00:00.000Z',
} satisfies ChangeView;
const about: Answers = {
  'ledger GET /merchants/demo': { merchantId: 'demo', settings },
  'ledger GET /accounts/demo/GHS': {
    merchantId: 'demo',
    currency: 'GHS',
    available: '12.5',
    held: '3',
    sequence: 9,
  },
  'ledger GET /changes': { items: [change], next: 'after-one' },
};

const page = async (path: string, answers: Answers, role: 'viewer' | 'operator' | 'admin' = 'admin') => {
  const console = openConsole(answers);
  const { html, status } = await (await console.signIn('ama', role)).get(path);
  return { html, status, text: textOf(html), asked: console.asked };
};

describe('merchants', () => {
  const shop: MerchantSummaryView = { id: 'shop', name: HOSTILE, status: 'suspended' };

  it('are listed page by page, each with a link', async () => {
    const items = [shop];
    const { html, asked } = await page('/merchants?cursor=acme', {
      'ledger GET /merchants': { items, next: 'shop' },
    });
    expect(html).toContain('href="/merchants/shop"');
    expect(html).toContain('href="/merchants?cursor=shop"');
    expect(html).not.toContain('<script>alert');
    expect(asked.map(({ what }) => what)).toEqual(['ledger GET /merchants?cursor=acme']);
  });
});

describe('merchants in a currency', () => {
  it('are listed few at a time, each with what its wallet has of the sum of all', async () => {
    const { html, text, asked } = await page('/merchants?currency=GHS', {
      ...about,
      'ledger GET /merchants': { items: [{ id: 'demo', name: 'Demo', status: 'active' }], next: 'demo' },
    });
    expect(text).toMatch(/Demo active 12\.50 GHS +3\.00 GHS/);
    expect(html).toContain('href="/ledger/accounts/wallet%3Ademo%3AGHS"');
    expect(html).toContain('href="/merchants?currency=GHS&amp;cursor=demo"');
    expect(asked[0]?.what).toBe('ledger GET /merchants?limit=20');
  });
});

describe('a merchant', () => {
  it('has settings, balances that lead to their statement, and who changed what', async () => {
    const { html, text } = await page('/merchants/demo', about, 'viewer');
    expect(text).toMatch(/GHS wallet of demo GHA 12\.50 GHS +3\.00 GHS +1\.5%, at least 0\.10 GHS/);
    expect(html).toContain('href="/ledger/accounts/wallet%3Ademo%3AGHS"');
    expect(text).toContain('8047dca0ab6a… payouts, collections expired 01/11/2026 00:00:00');
    expect(text).toContain('largest payout, GHS: from none to 5,000.00 GHS');
    expect(html).toContain('href="/approvals/settings/sc-1"');
    expect(html).toContain('href="/merchants/demo?cursor=after-one"');
    expect(html).not.toContain('<script>alert');
  });

  it('has limits with their digits in groups', async () => {
    const many = [...settings, set('limits.nameEnquiriesPerMinute', '1000000')];
    const found = { ...about, 'ledger GET /merchants/demo': { merchantId: 'demo', settings: many } };
    expect((await page('/merchants/demo', found)).text).toContain('name enquiries per minute 1,000,000');
  });

  it('is changed by admins only', async () => {
    const operator = await page('/merchants/demo', about, 'operator');
    expect([operator.html.includes('/changes/'), operator.text.includes('It takes an admin')]).toEqual([
      false,
      true,
    ]);
    const form = await page('/merchants/demo/changes/limits?requestsPerSecond=70', about, 'operator');
    expect([form.asked, form.html.includes('name="body"')]).toEqual([[], false]);
    expect((await page('/merchants/demo', about)).html).toContain('href="/merchants/demo/changes/suspend"');
  });

  it('that is not there is not found; nor is a form for what has none', async () => {
    expect((await page('/merchants/nobody', {})).status).toBe(404);
    const open = openConsole(about);
    const ama = await open.signIn('ama');
    for (const kind of ['create', 'constructor', '__proto__', 'none'])
      for (const step of ['foresee', 'act']) {
        const path = `/merchants/demo/changes/${kind}`;
        expect([(await ama.get(path)).status, (await ama.post(path, { step, body: '{}' })).status]).toEqual([
          404, 404,
        ]);
      }
    expect(open.asked.filter(({ what }) => what.includes('POST'))).toEqual([]);
  });
});

describe('a change', () => {
  const foreseen = { fields: change.fields };
  const foresee = async (kind: string, fields: Readonly<Record<string, string>>, answers: Answers) => {
    const { signIn, asked } = openConsole({ ...about, ...answers });
    const sent = { step: 'foresee', ...fields };
    const { html } = await (await signIn('ama')).post(`/merchants/demo/changes/${kind}`, sent);
    return { html, text: textOf(html), asked };
  };

  it.each([
    ['limits', 'requestsPerSecond=70', { requestsPerSecond: 70 }],
    ['limits', 'requestsPerSecond=1,070', { requestsPerSecond: 1_070 }],
    ['limits', 'requestsPerSecond=many', { requestsPerSecond: 'many' }],
    ['limits', 'requestsPerSecond=', { requestsPerSecond: null }],
    ['limits', 'requestsPerSecond=50', {}],
    ['limits', 'currency=GHS&perPayoutMax.GHS=7,000.50', { perPayoutMax: { GHS: '7000.50' } }],
    ['limits', 'currency=GHS&perPayoutMax.GHS=7000', { perPayoutMax: { GHS: '7000' } }],
    ['limits', 'currency=GHS&perPayoutMax.GHS=', { perPayoutMax: { GHS: null } }],
    ['limits', 'currency=GHS&perPayoutMax.GHS=5000&perDayMax.GHS=9', { perDayMax: { GHS: '9' } }],
    [
      'wallet',
      'currency=GHS&country=GHA&payoutFee.percent=2&payoutFee.min=0.1',
      { currency: 'GHS', country: 'GHA', payoutFee: { percent: '2', min: '0.1' } },
    ],
    [
      'webhooks',
      'payoutsUrl=https://shop.example/payouts&rotateSecret=yes&graceHours=0',
      { rotateSecret: true, graceHours: 0 },
    ],
    ['webhooks', 'payoutsUrl=', { payoutsUrl: null }],
    ['access', 'allowedAddresses=192.0.2.8,+192.0.2.9', { allowedAddresses: ['192.0.2.8', '192.0.2.9'] }],
    ['access', 'allowedAddresses=', { allowedAddresses: [] }],
    [
      'add-key',
      'scopes=payouts&expiresAt=31/01/2027',
      { scopes: ['payouts'], expiresAt: '2027-01-31T00:00:00.000Z' },
    ],
    ['add-key', 'scopes=payouts,collections', { scopes: ['payouts', 'collections'] }],
    ['remove-key', 'keyHash=8047dca0ab6a', { keyHash: '8047dca0ab6a' }],
    ['suspend', 'reason=why', { reason: 'why' }],
    ['resume', '', {}],
  ])('of %s with %s asks what would change, of what differs alone', async (kind, query, body) => {
    const operation = `ledger POST /merchants/demo/changes/${kind}`;
    const { asked, html, text } = await foresee(kind, Object.fromEntries(new URLSearchParams(query)), {
      [operation]: foreseen,
    });
    expect(asked.filter(({ what }) => what.includes('POST'))).toEqual([
      { what: operation, body: { ...body, dryRun: true }, by: 'ama' },
    ]);
    expect(text).toContain('largest payout, GHS: from none to 5,000.00 GHS');
    const [, sent = ''] = /name="body" value="([^"]*)"/.exec(html) ?? [];
    const changeId = expect.stringMatching(/^sc-\d+$/) as string;
    expect(JSON.parse(sent.replaceAll('&quot;', '"'))).toEqual({ ...body, changeId });
  });

  it('starts with what is set, and asks for nothing before it is to be shown', async () => {
    const { html, asked } = await page('/merchants/demo/changes/limits', about);
    expect(html).toMatch(/name="requestsPerSecond"[^>]* value="50"/);
    expect(asked.map(({ what }) => what)).toEqual(['ledger GET /merchants/demo']);
  });

  it('that would change nothing says so, with what was written', async () => {
    const refused = answered(409, { code: 'unchanged', message: 'demo is set so already' });
    const { text, html } = await foresee(
      'suspend',
      { reason: HOSTILE },
      { 'ledger POST /merchants/demo/changes/suspend': refused },
    );
    expect(text).toContain('Not done. ledger: demo is set so already');
    expect(html).toContain('&lt;script&gt;alert(');
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain('name="body"');
  });

  const take = async (kind: string, answer: unknown, fields: Readonly<Record<string, string>>) => {
    const console = openConsole({ ...about, [`ledger POST /merchants/demo/changes/${kind}`]: answer });
    const shown = await (await console.signIn('ama')).post(`/merchants/demo/changes/${kind}`, fields);
    return {
      ...shown,
      sent: console.asked.filter(({ what }) => what.includes('POST')).map(({ body }) => body),
    };
  };
  const taken: TakenChangeView = { ...change, made: {} };

  it('is sent once as it was shown, and leads to where another operator decides', async () => {
    const { sent, goesTo } = await take('limits', answered(202, taken), {
      body: '{"requestsPerSecond":70}',
      requestsPerSecond: '99',
    });
    expect([sent, goesTo]).toEqual([[{ requestsPerSecond: 70 }], '/approvals/settings/sc-1']);
  });

  it('is refused if what was shown did not arrive, and nothing is asked for', async () => {
    for (const body of ['{', 'null', '']) {
      const { sent, status, html } = await take('limits', answered(202, taken), { body });
      expect([status, textOf(html).includes('what was shown did not arrive')]).toEqual([422, true]);
      expect(sent).toEqual([]);
    }
  });

  it('whose answer was lost shows, when it is sent again, how to withdraw what was made', async () => {
    const again = answered(202, { ...taken, kind: 'add-key', made: {} });
    const { html } = await take('add-key', again, { body: '{"scopes":["payouts"],"changeId":"sc-1"}' });
    expect(textOf(html)).toContain('This was asked for already.');
    expect(html).toContain('<a href="/approvals/settings/sc-1">withdraw the change</a>');
  });

  it('with a minimum above its maximum is refused at the field', async () => {
    const message =
      'perPayoutMin.GHS must not be more than perPayoutMax.GHS: lower the one, or raise the other';
    const { html, text } = await foresee(
      'limits',
      { currency: 'GHS', 'perPayoutMin.GHS': '9', 'perPayoutMax.GHS': '5' },
      { 'ledger POST /merchants/demo/changes/limits': answered(400, { code: 'invalid', message }) },
    );
    expect(text).toContain(message);
    expect(html).toMatch(/name="perPayoutMin\.GHS"[^>]* aria-invalid="true"/);
    expect(html).toMatch(/name="perPayoutMin\.GHS"[^>]* value="9"/);
  });

  it('of a key with an end that is no time is refused at the field', async () => {
    const { html, asked } = await foresee('add-key', { scopes: 'payouts', expiresAt: 'soon' }, {});
    expect(html).toMatch(/name="expiresAt"[^>]* aria-invalid="true"/);
    expect(asked.filter(({ what }) => what.includes('POST'))).toEqual([]);
  });

  it('that applies at once leads back to the merchant', async () => {
    const { goesTo } = await take(
      'suspend',
      answered(201, { ...taken, kind: 'suspend', status: 'applied' }),
      { body: '{}' },
    );
    expect(goesTo).toBe('/merchants/demo');
  });

  it('shows what was made for it, only now and with a warning', async () => {
    const made = { webhookSecret: 'whsec_of-this-test' };
    const { status, html } = await take('webhooks', answered(202, { ...taken, kind: 'webhooks', made }), {
      body: '{"rotateSecret":true}',
    });
    expect(status).toBe(200);
    expect(textOf(html)).toContain('This is shown only now.');
    expect(html).toContain('data-copy="whsec_of-this-test"');
    expect(html).toContain('href="/approvals/settings/sc-1"');
  });

  it('that is refused is shown again with the reason and what was written', async () => {
    const refused = answered(409, { code: 'impossible', message: 'payouts has two keys already' });
    const { status, html } = await take('add-key', refused, {
      scopes: 'payouts',
      reason: 'next',
      body: '{"scopes":["payouts"]}',
    });
    expect([status, textOf(html).includes('Not done. ledger: payouts has two keys already')]).toEqual([
      409,
      true,
    ]);
    expect(html).toContain('value="payouts" selected');
    expect(html).toMatch(/name="reason"[^>]* value="next"/);
  });
});

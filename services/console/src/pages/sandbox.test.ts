import {
  type CollectionView,
  countryCode,
  missingConditionalField,
  type PayoutView,
  parseJson,
  servedCountries,
  singlePayoutRequest,
} from '@pesewa/contracts';
import { signWebhook } from '@pesewa/signatures';
import { describe, expect, it } from 'vitest';
import { settings } from '../config.ts';
import { openConsole, textOf } from '../console.fixture.ts';
import { createSandbox, type MerchantExchange, type MerchantRequest, sandboxSetting } from '../sandbox.ts';

const secret = `whsec_${Buffer.from('a secret of these tests').toString('base64')}`;
const given = {
  transferUrl: 'http://payouts',
  collectionsUrl: 'http://collections',
  simulatorUrl: 'http://simulator',
  merchant: { id: 'demo', publicKey: 'a-public-key', webhookSecret: secret },
};

const every = Object.values(servedCountries).map(({ currency }) => currency);
const walletsIn = (currencies: readonly string[]) => ({
  'ledger GET /merchants/demo': {
    merchantId: 'demo',
    settings: currencies.map((one) => ({ field: `wallets.${one}.country`, value: 'any', currency: null })),
  },
});

/** The console with a sandbox whose merchant gets these answers, by the path; `sent` has what it sent. */
function openSandbox(answers: Parameters<typeof openConsole>[0] = {}, texts: Record<string, string> = {}) {
  const sent: MerchantRequest[] = [];
  const exchange: MerchantExchange = async (request) => {
    const { pathname } = new URL(request.url);
    if (request.body !== undefined) sent.push(request);
    const isRefused = request.body?.includes('file:') === true;
    return { status: isRefused ? 400 : 200, text: texts[pathname] ?? '{"webhooks":[],"receivers":{}}' };
  };
  const sandbox = createSandbox(sandboxSetting.parse(JSON.stringify(given)), exchange);
  return { ...openConsole({ ...walletsIn(every), ...answers }, sandbox), sent };
}

const common = {
  reference: 'po-1',
  merchantId: 'demo',
  merchantReference: 'sandbox-7-0014',
  rail: 'upstream',
  currency: 'KES',
  amount: '100.00',
  fee: '1.00',
  railFee: '0.50',
  amountReceived: null,
  version: 3,
  acceptedAt: '2026-11-27T11:59:00.000Z',
  attempts: 1,
  attemptedAt: null,
  earlierUnclear: false,
  dueAt: null,
  steps: [],
};
const payout = {
  ...common,
  kind: 'payout',
  status: 'FAILED',
  step: 'ended',
  reason: '<script>alert(1)</script>',
  batchReference: null,
} satisfies PayoutView;
const collection = {
  ...common,
  kind: 'collection',
  reference: 'co-1',
  merchantReference: 'sandbox-7-9999',
  status: 'PENDING',
  step: 'awaiting_otp',
  reason: null,
  operatorCode: 'GMQMO',
  flow: 'otp',
  completions: 0,
  completionClosed: false,
} satisfies CollectionView;

describe('the sandbox', () => {
  it('does not exist without its setting, which production refuses', async () => {
    const ama = await openConsole().signIn('ama');
    expect([(await ama.get('/sandbox')).status, (await ama.get('/')).html.includes('/sandbox')]).toEqual([
      404,
      false,
    ]);
    const of = (NODE_ENV: string) =>
      settings.safeParse({ NODE_ENV, SANDBOX: JSON.stringify(given), OPERATOR_TOKEN: 'x'.repeat(40) });
    expect(of('development').data?.SANDBOX).toEqual(given);
    expect(of('production').error?.issues.filter(({ path }) => path[0] === 'SANDBOX')).toMatchObject([
      { message: 'is refused in production' },
    ]);
  });

  it('has a button for each digit, and says what it does', async () => {
    const ama = await openSandbox().signIn('ama', 'operator');
    const { html } = await ama.get('/sandbox');
    expect(html.match(/<button type="submit" name="digits" value="\d{4}">/g)).toHaveLength(18);
    expect(html).toContain('value="0001"><code>0001</code> fails, callback');
    expect(html).toContain('<option value="GHMTN:2">Collect: Ghana, GHS, GHMTN, completed by OTP</option>');
    expect((await ama.get('/')).html).toContain('href="/sandbox"');
  });

  it('pays out once, however often the form is sent, and shows request, answer and payment', async () => {
    const paid = '{"isSuccessful":true,"responseMessage":"it\'s <b>fine</b>"}';
    const { signIn, sent } = openSandbox(
      { 'payout-gateway GET /payments?reference=sandbox-7-0014&merchant=demo': payout },
      { '/api/v1/transactions/transfer/single': paid },
    );
    const ama = await signIn('ama');
    const fields = { id: 'sandbox-7', amount: '100.50', way: 'KE', digits: '0014' };
    for (let times = 0; times < 2; times += 1)
      expect((await ama.post('/sandbox', fields)).goesTo).toBe('/sandbox/payouts/sandbox-7-0014');
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      url: 'http://payouts/api/v1/transactions/transfer/single',
      headers: { 'x-api-key': Buffer.from('a-public-key').toString('base64') },
    });
    expect(sent[0]?.body).toContain('"amount":100.50');
    expect(sent[0]?.body).toContain('"accountNumber":"0123450014"');
    const { html } = await ama.get('/sandbox/payouts/sandbox-7-0014');
    expect(html).toContain('href="/payments/po-1"');
    expect(html).toContain('href="/webhooks?reference=sandbox-7-0014">What was sent');
    expect(html).toContain('hx-trigger="every 2s"');
    expect(html).toContain('&lt;b&gt;fine');
    expect(html).not.toContain('<script>alert');
    expect(textOf(html)).toContain(
      "curl 'http://payouts/api/v1/transactions/transfer/single' \\ -H 'x-api-key",
    );
  });

  it.each(Object.entries(servedCountries))(
    'pays out to %s with all that it requires',
    async (country, { currency }) => {
      const { signIn, sent } = openSandbox();
      const ama = await signIn('ama');
      const fields = { id: 'sandbox-7', amount: '1,000.50', way: country, digits: '0014' };
      expect((await ama.post('/sandbox', fields)).status).toBe(303);
      const payout = singlePayoutRequest.parse(parseJson(sent[0]?.body ?? ''));
      expect(payout.beneficiary.amount).toBe('1000.50');
      const code = countryCode(payout.country) ?? '';
      expect([payout.currency, missingConditionalField({ ...payout, currency, country: code })]).toEqual([
        currency,
        undefined,
      ]);
    },
  );

  it('offers what the merchant has a wallet for, and says how to get another', async () => {
    const { signIn } = openSandbox(walletsIn(['GHS', 'GMD']));
    const { html } = await (await signIn('ama')).get('/sandbox');
    expect(html).toContain('<option value="GH"');
    expect(html).not.toContain('<option value="KE"');
    expect(html).not.toContain('value="KESAF:1"');
    expect(textOf(html)).toContain('In other currencies it has no wallet: add one in XOF add one in KES');
    expect(html).toContain('href="/merchants/demo/changes/wallet?currency=KES"');
    const other = await (
      await openSandbox({ ...walletsIn([]), 'ledger GET /merchants/demo': undefined }).signIn('ama')
    ).get('/sandbox');
    expect([other.status, textOf(other.html).includes('X-module')]).toEqual([200, true]);
  });

  it('sends nothing for a viewer, who reads which role it takes', async () => {
    const { signIn, sent } = openSandbox({ 'collection-gateway GET /payments': collection });
    const ama = await signIn('ama');
    const fields = { id: 'sandbox-7', amount: '100', way: 'GMQMO:1', digits: '9999' };
    const { goesTo } = await ama.post('/sandbox', fields);
    const esi = await signIn('esi', 'viewer');
    const forms = await esi.get('/sandbox');
    expect([
      textOf(forms.html).includes('takes the role operator'),
      forms.html.includes('name="digits"'),
    ]).toEqual([true, false]);
    expect((await esi.get(goesTo ?? '')).html).not.toContain('name="otp"');
    for (const path of ['/sandbox', `${goesTo}/completion`]) {
      const refused = await esi.post(path, { ...fields, id: 'sandbox-8', amount: '1', way: 'GH' });
      expect(refused.status).not.toBe(303);
      expect(textOf(refused.html)).toContain('takes the role operator');
    }
    expect(sent).toHaveLength(1);
  });

  it('shows the form again with what was written where that is no request', async () => {
    const { signIn, sent } = openSandbox();
    const ama = await signIn('ama');
    const wrong = { amount: '"><script>', way: 'GMQMO:1', digits: '9999' };
    const { status, html } = await ama.post('/sandbox', wrong);
    expect(status).toBe(422);
    expect(textOf(html)).toContain('amount must be a number, such as 100.50');
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;"');
    for (const changed of [{ digits: '1234' }, { way: 'XXMTN:1' }, { way: 'constructor' }])
      expect((await ama.post('/sandbox', { ...wrong, amount: '5', ...changed })).status).toBe(422);
    expect(sent).toEqual([]);
  });

  it('collects with X-module, and completes by the OTP while that is awaited', async () => {
    let standing: CollectionView = collection;
    const { signIn, sent } = openSandbox({ 'collection-gateway GET /payments': () => standing });
    const ama = await signIn('ama');
    const fields = { id: 'sandbox-7', amount: '100', way: 'GMQMO:1', digits: '9999' };
    const { goesTo } = await ama.post('/sandbox', fields);
    const module = Buffer.from('100sandbox-7-99992207009999').toString('base64');
    expect(sent[0]).toMatchObject({
      url: 'http://collections/collection/v1/payin',
      headers: { 'x-module': module, 'x-app': 'api' },
    });
    const page = await ama.get(goesTo ?? '');
    expect(page.html).toMatch(/name="otp"[^>]* value="123456"/);
    expect(textOf(page.html)).toContain('Complete the collection of 100 GMD');
    await ama.post(`${goesTo}/completion`, { otp: '654321' });
    expect(sent[1]?.url).toBe('http://collections/collection/v1/complete-payin');
    expect(sent[1]?.body).toContain('"otpCode":"654321"');
    standing = { ...collection, status: 'COMPLETED' };
    const completed = await ama.get(goesTo ?? '');
    expect(completed.html).not.toContain('name="otp"');
    expect(textOf(completed.html)).toContain('Request to /collection/v1/complete-payin, and its answer');
  });

  it('shows webhooks as they arrived, and whether their signatures are right', async () => {
    const at = '2026-11-27T11:59:30.000Z';
    const body = '{"data":"</pre><script>"}';
    const sign = (by: string) => ({
      at,
      path: '/merchant/demo/payouts',
      headers: { ...signWebhook({ id: 'po-1-failed', timestamp: new Date(at), body, secrets: [by] }) },
      body,
    });
    const other = `whsec_${Buffer.from('another secret of theirs').toString('base64')}`;
    const webhooks = [sign(secret), sign(other), { ...sign(secret), headers: {} }];
    const { signIn } = openSandbox({}, { '/control/received': JSON.stringify({ webhooks }) });
    const { html } = await (await signIn('ama')).get('/sandbox/payouts/sandbox-7-0014');
    const text = textOf(html);
    expect(text.match(/ verified /g)).toHaveLength(1);
    expect(text).toMatch(/ failed : wrong .* failed : missing/);
    expect(html).toContain('href="/webhooks/deliveries/po-1-failed"');
    expect(html).toContain('&lt;/pre&gt;&lt;script&gt;');
    expect(text).toContain('No payment came of this request');
  });

  it('sends its webhooks on to the address of a field, or to none', async () => {
    const { signIn, sent } = openSandbox(
      {},
      { '/control/receivers': '{"receivers":{"demo":"http://a.example"}}' },
    );
    const ama = await signIn('ama');
    const { html } = await ama.get('/sandbox');
    expect(html).toMatch(/name="receiver"[^>]* value="http:\/\/a\.example"/);
    expect(textOf(html)).toContain('and on to http://a.example , whose answers count');
    for (const receiver of ['http://localhost:8080', ''])
      expect((await ama.post('/sandbox/receiver', { receiver })).goesTo).toBe('/sandbox');
    const { url, method, headers } = sent[0] ?? {};
    expect([url, method, headers]).toEqual([
      'http://simulator/control/receivers/demo',
      'PUT',
      { 'content-type': 'application/json' },
    ]);
    expect(sent.map(({ body }) => body)).toEqual(['{"url":"http://localhost:8080"}', '{"url":null}']);
    const refused = await ama.post('/sandbox/receiver', { receiver: 'file:///etc' });
    expect([refused.status, textOf(refused.html).includes('must be an http or https address')]).toEqual([
      422,
      true,
    ]);
    const esi = await signIn('esi', 'viewer');
    expect(textOf((await esi.post('/sandbox/receiver', { receiver: '' })).html)).toContain(
      'takes the role operator',
    );
    expect(sent).toHaveLength(3);
  });

  it.each([
    ['{"transactionAmount":100.50,"transactionReference":"o-1","customerNumber":"220"}', 'MTAwLjUwby0xMjIw'],
    ['{"transactionReference":"o-1"}', 'by0x'],
    ['{"transactionReference":"o-1","transactionAmount":1}', 'both transactionAmount and customerNumber'],
    ['{"transactionReference":"<script>"}', 'transactionReference must start with a letter'],
    ['<script>', 'the body must be well-formed JSON'],
  ])('computes X-module for a body, or says what is wrong with it: %s', async (body, expected) => {
    const ama = await openSandbox().signIn('ama');
    const { html } = await ama.get(`/sandbox?${new URLSearchParams({ body }).toString()}`);
    expect(textOf(html)).toContain(expected);
    expect(html).not.toContain('<script>"');
  });
});

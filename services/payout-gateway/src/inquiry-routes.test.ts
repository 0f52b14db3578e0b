import { currencyHtml, jsonNumber } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import type { Processor } from '@pesewa/rails';
import { describe, expect, it } from 'vitest';
import { ask, holderOf, merchant, openTestApp } from './app.fixture.ts';
import type { InquiryDeps } from './inquiry-routes.ts';
import type { NameEnquiryOutcome } from './name-enquiry.ts';

const processor: Processor = {
  code: '058',
  name: 'Guaranty Trust Bank',
  shortName: 'GTBank',
  sortCode: '058',
  avatar: '',
  currency: 'NGN',
  country: 'NGA',
  active: true,
  blockTransaction: false,
};

function open(inquiries: Partial<InquiryDeps> = {}, who: Merchant = merchant) {
  return openTestApp({
    identify: async () => holderOf(who),
    inquiries: {
      balances: { available: async () => new Map([['NGN', 9_007_199_254_740_991n]]) },
      processors: { list: async () => [processor] },
      routes: [],
      availability: () => undefined,
      enquireName: async () => ({ kind: 'noAccount' }),
      flagUrl: (country) => `http://gateway.test/flags/${country}.svg`,
      ...inquiries,
    },
  });
}

describe('balance (contract 4.4)', () => {
  const path = '/api/v1/wallets/balance';

  it('gives every wallet of the merchant, exactly, and 0 if the ledger has published no balance yet', async () => {
    const { status, body, text } = await ask(open(), 'POST', path);
    expect(status).toBe(200);
    expect(body).toMatchObject({ isSuccessful: true, responseCode: '00' });
    expect(body.responseData).toEqual([
      {
        balance: '90071992547409.91',
        countryCode: 'NGA',
        countryAvatar: 'http://gateway.test/flags/NGA.svg',
        currencyCode: 'NGN',
        currencyHtml: '&#8358;',
      },
      expect.objectContaining({ balance: '0', countryCode: 'CIV', currencyCode: 'XOF' }),
    ]);
    expect(text).toContain('"balance":90071992547409.91,');
  });

  it.each([
    ['?currency=NGN', ['NGN']],
    ['?currency=xof', ['XOF']],
    ['?currency=', ['NGN', 'XOF']],
    ['?currency=KES', []],
    ['?currency=ZZZ', []],
    ['?currency=nonsense', []],
  ])('%s shows %j', async (query, currencies) => {
    const { status, body } = await ask(open(), 'POST', `${path}${query}`);
    expect([status, body.responseCode]).toEqual([200, '00']);
    expect(body.responseData).toHaveLength(currencies.length);
    expect(body.responseData).toMatchObject(currencies.map((currencyCode) => ({ currencyCode })));
  });

  it.each([
    '?currency=NGN&currency=XOF',
    '?currency[$ne]=NGN',
    '?currency%5B%5D=NGN',
    '?currency=%00',
    '?currency=%zz',
    `?currency=${'N'.repeat(1_000)}`,
  ])('refuses %s', async (query) => {
    const { status, body } = await ask(open(), 'POST', `${path}${query}`);
    expect([status, body.responseCode]).toEqual([400, '30']);
  });

  it.each([['{}'], ['no json'], ['{"currency":"XOF"}']])('ignores the body %s', async (content) => {
    const { body } = await ask(open(), 'POST', `${path}?currency=NGN`, { body: content });
    expect(body.responseData).toMatchObject([{ currencyCode: 'NGN' }]);
  });

  it('refuses a body without end', async () => {
    const { status } = await ask(open(), 'POST', path, { body: 'x'.repeat(5_000) });
    expect(status).toBe(400);
  });

  it('answers 91 where the database does not answer', async () => {
    const app = open({ balances: { available: async () => Promise.reject(new Error('no primary')) } });
    const { status, body } = await ask(app, 'POST', path);
    expect([status, body.responseCode]).toEqual([503, '91']);
  });

  it('shows nothing to a merchant without wallets', async () => {
    const { body } = await ask(open({}, { ...merchant, wallets: [] }), 'POST', path);
    expect(body.responseData).toEqual([]);
  });

  it.each([
    ['NGN', '&#8358;'],
    ['GHS', '&#71;&#72;&#8373;'],
    ['EGP', '&#69;&#163;'],
    ['ZAR', '&#82;'],
    ['KES', '&#75;&#69;&#83;'],
  ])('writes the symbol of %s as %s', (currency, html) => {
    expect(currencyHtml(currency)).toBe(html);
  });
});

describe('processors (contract 4.5)', () => {
  const path = '/api/v1/banks';

  it.each(['NGA', 'NG', 'ng', 'Nigeria', 'nigeria'])('lists those of %s', async (country) => {
    const asked: string[] = [];
    const app = open({
      processors: {
        list: async (code) => {
          asked.push(code);
          return [processor];
        },
      },
    });
    const { body } = await ask(app, 'GET', `${path}?country=${country}`);
    expect(body.responseCode).toBe('00');
    expect(asked).toEqual(['NGA']);
    expect(body.responseData).toEqual([{ ...processor, avatar: 'http://gateway.test/flags/NGA.svg' }]);
  });

  it("keeps the rail's own picture", async () => {
    const app = open({ processors: { list: async () => [{ ...processor, avatar: '#c8963e' }] } });
    const { body } = await ask(app, 'GET', `${path}?country=NGA`);
    expect(body.responseData).toMatchObject([{ avatar: '#c8963e' }]);
  });

  it.each(['', '?country=', '?country=NGA&country=KEN', '?country[$ne]=NGA', '?country=%00', '?country=<b>'])(
    'refuses "%s"',
    async (query) => {
      const { status, body } = await ask(open(), 'GET', `${path}${query}`);
      expect([status, body.responseCode]).toEqual([400, '30']);
    },
  );

  it('gives an empty list for a country that is none', async () => {
    const { status, body } = await ask(open(), 'GET', `${path}?country=Atlantis`);
    expect([status, body.responseData]).toEqual([200, []]);
  });

  it('answers 91 if no rail has ever answered', async () => {
    const app = open({ processors: { list: async () => undefined } });
    const { status, body } = await ask(app, 'GET', `${path}?country=NGA`);
    expect([status, body.responseCode]).toEqual([503, '91']);
  });
});

describe('name enquiry (contract 4.6)', () => {
  const path = '/api/v1/transactions/name-enquiry';
  const wanted = { accountNumber: '0123456789', bankCode: '058', currency: 'ngn', country: 'Nigeria' };

  it('gives the holder, without a code', async () => {
    const account = { accountName: 'Ama Mensah', accountNumber: '1', bankCode: '058', sessionId: 's' };
    const asked: unknown[] = [];
    const app = open({
      enquireName: async (query) => {
        asked.push(query);
        return { kind: 'found', account };
      },
    });
    const { status, text } = await ask(app, 'POST', path, { body: wanted });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      isSuccessful: true,
      responseMessage: 'Account found',
      responseData: account,
    });
    expect(asked).toEqual([{ ...wanted, currency: 'NGN', country: 'NGA' }]);
  });

  it.each<[string, NameEnquiryOutcome, number, string]>([
    ['no account', { kind: 'noAccount' }, 400, '25'],
    ['no route', { kind: 'noRoute' }, 422, '92'],
    ['an unknown processor', { kind: 'noProcessor', why: 'unknown' }, 422, '92'],
    ['a blocked processor', { kind: 'noProcessor', why: 'blocked' }, 422, '92'],
    ['a rail that is away', { kind: 'unavailable' }, 503, '91'],
  ])('answers %s in the envelope', async (_, outcome, status, code) => {
    const app = open({ enquireName: async () => outcome });
    const answered = await ask(app, 'POST', path, { body: wanted });
    expect([answered.status, answered.body.responseCode]).toEqual([status, code]);
  });

  it('says where the list of processors is', async () => {
    const app = open({ enquireName: async () => ({ kind: 'noProcessor', why: 'unknown' }) });
    expect((await ask(app, 'POST', path, { body: wanted })).body.responseMessage).toBe(
      'bankCode names a processor that is unknown: GET /api/v1/banks?country=NGA lists those that there are',
    );
  });

  it.each(['accountNumber', 'bankCode', 'currency', 'country'])('needs %s', async (field) => {
    for (const value of [undefined, '', null, 7, { $ne: '' }, ['058']]) {
      const { status, body } = await ask(open(), 'POST', path, { body: { ...wanted, [field]: value } });
      expect([status, body.responseCode]).toEqual([400, '30']);
      expect(body.responseMessage).toContain(field);
    }
  });

  it.each([
    ['country', 'Atlantis'],
    ['currency', 'ZZZ'],
  ])('refuses a %s that is none', async (field, value) => {
    const { body } = await ask(open(), 'POST', path, { body: { ...wanted, [field]: value } });
    expect(body.responseCode).toBe('30');
  });
});

describe('configuration (contract 10.24)', () => {
  it('shows the routes with their decimals and the limits of the merchant that asks', async () => {
    const routes = [
      { country: 'NGA', currency: 'NGN', channel: 'Bank Transfer' },
      { country: 'CIV', currency: 'XOF', channel: 'Mobile Money' },
    ] as const;
    const limits = { ...merchant.limits, perPayoutMaxMinor: { NGN: 50_000_050n } };
    const app = open({ routes }, { ...merchant, limits });
    const { status, text } = await ask(app, 'GET', '/api/v1/configuration');
    const none = { minimumAmount: null, maximumAmount: null, dailyMaximumAmount: null };
    expect([status, (JSON.parse(text) as { responseData: unknown }).responseData]).toEqual([
      200,
      {
        configuration: [
          { ...routes[0], decimals: 2, ...none, maximumAmount: 500_000.5 },
          { ...routes[1], decimals: 0, ...none },
        ],
      },
    ]);
  });
});

describe('availability (contract 10.23)', () => {
  const path = '/api/v1/availability';
  const nothing = { successRate: null, medianSeconds: null, p95Seconds: null };
  const route = { country: 'NGA', currency: 'NGN', channel: 'Bank Transfer', ...nothing } as const;
  const times = { from: '2026-11-01T08:00:00.000Z', to: '2026-11-01T09:00:00.000Z' };

  it('is of every route, as it is for the merchant that asks', async () => {
    const asked: string[] = [];
    const app = open({
      availability: (merchantId) => {
        asked.push(merchantId);
        const measured = { successRate: jsonNumber('0.987'), p95Seconds: jsonNumber('31.5') };
        const availability = [
          { ...route, ...measured, status: 'OPERATIONAL' as const },
          { ...route, channel: 'Mobile Money' as const, status: 'CLOSED' as const },
        ];
        return { ...times, availability };
      },
    });
    const { status, body } = await ask(app, 'GET', path);
    expect([status, body.responseCode, asked]).toEqual([200, '00', ['demo']]);
    expect(body.responseData).toEqual({
      ...times,
      availability: [
        { ...route, status: 'OPERATIONAL', successRate: '0.987', p95Seconds: '31.5' },
        { ...route, status: 'CLOSED', channel: 'Mobile Money' },
      ],
    });
  });

  it('is 91 before it is measured, and for those alone who have a key', async () => {
    const { status, body } = await ask(open(), 'GET', path);
    expect([status, body.responseCode]).toEqual([503, '91']);
    const stranger = await ask(openTestApp(), 'GET', path, { headers: { 'x-api-key': 'eA==' } });
    expect([stranger.status, stranger.body.responseCode]).toEqual([401, '63']);
  });

  it('counts towards the rate', async () => {
    const app = openTestApp({
      rateLimits: { limitRequest: async () => 3, limitNameEnquiry: async () => undefined },
    });
    expect((await ask(app, 'GET', path)).status).toBe(429);
  });
});

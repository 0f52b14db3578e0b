import { jsonNumber, mobileOperators, parseJson } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { answerSchema } from './fixtures/documented.ts';
import { holderOf, merchant, openGateway, payinBody, rightHeaders } from './fixtures/gateway.ts';
import type { ListRouteDeps } from './list-routes.ts';

const { 'x-module': _module, 'content-type': _type, ...rightfully } = rightHeaders('');
const cursor = `co-${'7'.repeat(32)}`;

/** A gateway with one collection in each state, and its list. */
async function openList(overrides: Partial<ListRouteDeps> = {}) {
  const asked: unknown[] = [];
  const gateway = openGateway({
    store: {
      list: async (query) => {
        asked.push(query);
        return [...gateway.stored.values()].slice(0, query.limit);
      },
    },
    ...overrides,
  });
  for (const transactionReference of ['paid', 'failed', 'open'])
    await gateway.send({ path: 'payin', body: payinBody({ transactionReference }) });
  const oursOf = (name: string) =>
    [...gateway.stored.values()].find(({ order }) => order.merchantReference === name)?.reference ?? '';
  await gateway.observe({ reference: oursOf('paid'), status: 'completed' });
  await gateway.observe({ reference: oursOf('failed'), status: 'failed', reason: 'CUSTOMER DECLINED' });
  const list = async (query = '', headers: Record<string, string> = rightfully) => {
    const response = await gateway.app.request(`/collection/v1/collections${query}`, { headers });
    const text = await response.text();
    answerSchema('collections', response.status).parse(parseJson(text));
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(text) as Record<string, unknown>,
    };
  };
  return { list, asked, oursOf };
}

describe('the list of collections', () => {
  it('shows each as its webhook does, and those that go on (contract 10.19)', async () => {
    const { list, oursOf } = await openList();
    const { status, body } = await list();
    const common = { channel: 'MOBILE_MONEY', currency_code: 'GMD', operator_code: 'GMQMO' };
    const expected = [
      { merchant_reference: 'paid', status: 'COMPLETED', amount_received: 100 },
      {
        merchant_reference: 'failed',
        status: 'FAILED',
        amount_received: 0,
        transaction_fee: 0,
        failure_reason: 'CUSTOMER DECLINED',
      },
      { merchant_reference: 'open', status: 'PENDING', amount_received: 0, transaction_fee: 0 },
    ].map((one) => ({
      ...common,
      ...one,
      transaction_reference: oursOf(one.merchant_reference),
      transaction_amount: 100,
      initiated_date: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string,
    }));
    expect([status, body]).toMatchObject([200, { collections: expected, nextCursor: null }]);
  });

  it('asks the store for its own merchant, the status, the times and the page (contract 10.19)', async () => {
    const { list, asked, oursOf } = await openList();
    const times = 'from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z';
    const { body } = await list(`?status=FAILED&${times}&cursor=${cursor}&limit=2`);
    expect(asked).toEqual([
      {
        merchantId: 'demo',
        status: 'FAILED',
        fromMs: Date.UTC(2026, 10, 1),
        toMs: Date.UTC(2026, 10, 2),
        before: cursor,
        limit: 3,
      },
    ]);
    expect(body['collections']).toHaveLength(2);
    expect(body['nextCursor']).toBe(oursOf('failed'));
  });

  it.each([
    ['status=REVERSED', 'status must be one of PENDING, COMPLETED, FAILED'],
    ['from=now', 'from must be a time such as 2026-11-01T08:00:00Z'],
    ['to=now', 'to must be a time such as 2026-11-01T08:00:00Z'],
    ['cursor=x', 'cursor must be a nextCursor of this list'],
    ['limit=all', 'limit must be a whole number from 1 to 200'],
    ['limit=1&limit=2', 'limit must be given once'],
    ['state=FAILED', 'the parameters of this list are status, from, to, cursor and limit'],
  ])('?%s is refused and says why (contract 10.19)', async (query, why) => {
    const { list, asked } = await openList();
    expect(await list(`?${query}`)).toMatchObject({
      status: 400,
      body: { status: 400, error: `Bad Request: ${why}`, path: '/collection/v1/collections' },
    });
    expect(asked).toEqual([]);
  });

  it.each([
    {},
    { 'x-app': 'api' },
    { ...rightfully, 'x-app': 'web' },
    { ...rightfully, 'x-business': 'eA==' },
  ])('is for those alone who may ask: %j', async (headers) => {
    const { list, asked } = await openList();
    expect(await list('', headers)).toMatchObject({ status: 400, body: { error: 'Bad Request' } });
    expect(asked).toEqual([]);
  });

  it('counts towards the rate, and says when to come again', async () => {
    const { list, asked } = await openList({ limitRequest: async () => 3 });
    const { status, headers } = await list();
    expect([status, headers.get('retry-after'), asked]).toEqual([429, '3', []]);
  });

  it('is 503 where the database does not answer, and 400 where it would have to read too much', async () => {
    const broken = await openList({ store: { list: async () => Promise.reject(new Error('no primary')) } });
    expect(await broken.list()).toMatchObject({ status: 503 });
    const slow = await openList({ store: { list: async () => undefined } });
    expect(await slow.list()).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/from and to/) as string },
    });
  });
});

describe('the configuration of mobile operators (contract 10.24)', () => {
  async function configure(limits: object = {}) {
    const gateway = openGateway({
      identify: async () => holderOf({ ...merchant, limits: { ...merchant.limits, ...limits } }),
    });
    const response = await gateway.app.request('/collection/v1/configuration', { headers: rightfully });
    const text = await response.text();
    answerSchema('configuration', response.status).parse(parseJson(text));
    const { configuration } = JSON.parse(text) as { configuration: readonly Record<string, unknown>[] };
    return new Map(configuration.map((one) => [one['operatorCode'], one]));
  }

  it("shows amounts, the merchant's limits, and what a payin asks of it next", async () => {
    const operators = await configure({ perCollectionMaxMinor: { XOF: 200_000n } });
    expect(operators.size).toBe(mobileOperators.length);
    const [no, otp] = [
      { otpIsRequired: false, lengthOfOtp: 0, paymentCompletionRequired: false, redirectionRequired: false },
      { otpIsRequired: true, lengthOfOtp: 6, paymentCompletionRequired: true, redirectionRequired: false },
    ];
    expect(operators.get('GHMTN')).toMatchObject({
      country: 'GH',
      currency: 'GHS',
      requestType: 'Collections',
      decimals: 2,
      amountStep: 0.01,
      maximumAmount: null,
      flows: [
        { transactionType: '1', ...no },
        { transactionType: '2', ...otp },
      ],
    });
    const wave = { decimals: 0, amountStep: 5, maximumAmount: 200_000, requestType: 'Collections' };
    expect(operators.get('CIWAV')).toMatchObject({
      ...wave,
      flows: [{ transactionType: null, ...no, redirectionRequired: true }],
    });
  });

  it.each([
    ['233241234567', 'GHMTN'],
    ['233501234567', 'GHVOD'],
    ['254712345678', 'KESAF'],
    ['2250701020304', 'CIORA'],
    ['2207123456', 'GMAFR'],
  ])('tells by its beginning that %s is a number of %s alone', async (number, operatorCode) => {
    const all = [...(await configure()).values()] as { operatorCode: string; numberPrefixes: string[] }[];
    const of = all.filter(({ numberPrefixes }) => numberPrefixes.some((prefix) => number.startsWith(prefix)));
    expect(of.map((one) => one.operatorCode)).toEqual([operatorCode]);
  });
});

describe('the availability of mobile operators (contract 10.23)', () => {
  const times = { from: '2026-11-01T08:00:00.000Z', to: '2026-11-01T09:00:00.000Z' };
  const mtn = { operatorCode: 'GHMTN', status: 'DELAYED' as const, medianSeconds: null, p95Seconds: null };
  const availability: ListRouteDeps['availability'] = (merchantId) =>
    merchantId === 'demo'
      ? { ...times, availability: [{ ...mtn, successRate: jsonNumber('0.91') }] }
      : undefined;

  async function ask(overrides: Partial<ListRouteDeps>, headers: Record<string, string> = rightfully) {
    const response = await openGateway(overrides).app.request('/collection/v1/availability', { headers });
    const text = await response.text();
    answerSchema('availability', response.status).parse(parseJson(text));
    return [response.status, JSON.parse(text) as unknown];
  }

  it('is shown as it is for the merchant that asks', async () => {
    const shown = { ...times, availability: [{ ...mtn, successRate: 0.91 }] };
    expect(await ask({ availability })).toEqual([200, shown]);
  });

  it.each<[string, number, Partial<ListRouteDeps>, Record<string, string>]>([
    ['not known before it is measured', 503, {}, rightfully],
    ['for those alone who may ask', 400, {}, { 'x-app': 'api' }],
    ['counted towards the rate', 429, { limitRequest: async () => 3 }, rightfully],
  ])('is %s', async (_, status, overrides, headers) => {
    expect((await ask({ availability: () => undefined, ...overrides }, headers))[0]).toBe(status);
  });
});

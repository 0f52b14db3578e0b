import { DirectoryError, type Merchant } from '@pesewa/directory';
import { accept } from '@pesewa/kernel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask, holderOf, merchant, openTestApp, payout } from './app.fixture.ts';
import { createRateLimits } from './app.ts';

const balance = '/api/v1/wallets/balance';

describe('the key (contract 5)', () => {
  const openWithDirectory = () => {
    const seen: string[] = [];
    const app = openTestApp({
      identify: async (key) => {
        seen.push(key);
        return key === 'ZGVtbw==' ? holderOf(merchant) : undefined;
      },
    });
    return { app, seen };
  };

  it.each([
    ['none', ''],
    ['not encoded', 'demo'],
    ['without padding', 'ZGVtbw'],
    ['of another alphabet', 'ZGVtbw-_'],
    ['with a space inside', 'ZGVt bw=='],
    ['with something behind it', 'ZGVtbw==x'],
    ['sent twice', 'ZGVtbw==, ZGVtbw=='],
  ])('is refused %s, in one shape', async (_, key) => {
    const { status, text } = await ask(openWithDirectory().app, 'POST', balance, {
      headers: { 'x-api-key': key },
    });
    expect(status).toBe(401);
    expect(JSON.parse(text)).toEqual({
      isSuccessful: false,
      responseCode: '63',
      responseMessage: 'x-api-key must be the Base64 of your public key',
    });
  });

  it.each([
    ['that can not be looked up', new Error('no primary'), 503, '91'],
    ['of a merchant that is stored wrongly', new DirectoryError('malformed'), 500, '96'],
  ])('%s is not refused', async (_, error, status, code) => {
    const answered = await ask(openTestApp({ identify: () => Promise.reject(error) }), 'POST', balance);
    expect([answered.status, answered.body.responseCode]).toEqual([status, code]);
  });

  it('is not taken from the query', async () => {
    const { app, seen } = openWithDirectory();
    const { status } = await ask(app, 'POST', `${balance}?x-api-key=ZGVtbw==`, {
      headers: { 'x-api-key': '' },
    });
    expect([status, seen]).toEqual([401, ['']]);
  });

  it('repeated, reaches the directory as one value that is no Base64', async () => {
    const { app, seen } = openWithDirectory();
    const headers = new Headers([
      ['x-api-key', 'ZGVtbw=='],
      ['x-api-key', 'ZGVtbw=='],
    ]);
    expect((await app.request(balance, { method: 'POST', headers })).status).toBe(401);
    expect(seen).toEqual(['ZGVtbw==, ZGVtbw==']);
  });
});

describe('what a key is for (contract 10.20)', () => {
  it('is refused, if it is not for payouts, before anything else', async () => {
    const app = openTestApp({ identify: async () => holderOf(merchant, ['collections']) });
    for (const [method, path] of [
      ['POST', balance],
      ['GET', '/api/v1/transactions/order-1/query'],
      ['POST', '/api/v1/transactions/transfer/single'],
    ] as const) {
      const { status, text } = await ask(app, method, path, method === 'POST' ? { body: '{' } : {});
      expect([status, JSON.parse(text)]).toEqual([
        403,
        {
          isSuccessful: false,
          responseCode: '57',
          responseMessage: 'x-api-key is not for payouts: send a key that has the scope payouts',
        },
      ]);
    }
  });

  it('is enough, if it is for payouts alone', async () => {
    const app = openTestApp({ identify: async () => holderOf(merchant, ['payouts']) });
    expect((await ask(app, 'POST', balance)).status).toBe(200);
  });
});

describe('where a request comes from (contract 10.20)', () => {
  const listed: Merchant = { ...merchant, allowedAddresses: ['192.0.2.0/24', '2001:db8::/32'] };
  const send = async (remoteAddress: string | undefined, key = 'ZGVtbw==', forwardedFor = '192.0.2.1') => {
    const counted: string[] = [];
    const app = openTestApp({
      identify: async (sent) => (sent === 'ZGVtbw==' ? holderOf(listed) : undefined),
      rateLimits: {
        ...createRateLimits(),
        limitRequest: async ({ id }) => void counted.push(id),
      },
    });
    const headers = { 'x-api-key': key, 'x-forwarded-for': forwardedFor };
    const env = { incoming: { socket: { remoteAddress } } };
    const response = await app.request(balance, { method: 'POST', headers }, env);
    return { status: response.status, counted, text: await response.text() };
  };

  it.each(['192.0.2.9', '::ffff:192.0.2.9', '2001:db8::9'])('%s is allowed', async (address) => {
    expect(await send(address)).toMatchObject({ status: 200, counted: ['demo'] });
  });

  it.each([
    ['198.51.100.9', '198.51.100.9'],
    ['2001:db9::9', '2001:db9::9'],
    [undefined, 'an unknown address'],
  ])('%s is refused by its own address, without a word of the list', async (address, named) => {
    const { status, counted, text } = await send(address);
    expect([status, counted]).toEqual([403, []]);
    expect(JSON.parse(text)).toEqual({
      isSuccessful: false,
      responseCode: '57',
      responseMessage: `requests from ${named} are not allowed for this merchant: ask your operator to allow the address`,
    });
  });

  it('is judged after the key', async () => {
    expect((await send('198.51.100.9', 'cml2YWw=')).status).toBe(401);
  });
});

describe('paths and methods', () => {
  it.each([
    ['GET', balance, 'POST'],
    ['HEAD', balance, 'POST'],
    ['DELETE', '/api/v1/banks', 'GET, HEAD'],
    ['OPTIONS', '/api/v1/transactions/order-1/query', 'GET, HEAD'],
    ['PUT', '/api/v1/transactions/transfer/single', 'POST'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('%s %s is 405 and names what it takes', async (method, path, allow) => {
    const app = openTestApp();
    const response = await app.request(path, { method, headers: { 'x-api-key': 'ZGVtbw==' } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    const text = await response.text();
    expect(text === '' ? 'no body' : JSON.parse(text)).toEqual(
      method === 'HEAD'
        ? 'no body'
        : { isSuccessful: false, responseCode: '30', responseMessage: `this path takes ${allow}` },
    );
  });

  it.each([
    '/api/v1/transactions//query',
    '/api/v1/transactions/%2e%2e/query',
    '/api/v1/transactions/order-1/query/',
    '/api/v1/Banks',
    '/api/v1/banks/',
    '/api/v2/banks',
    '/',
    '/docs/../../etc/passwd',
    '/flags/%2e%2e%2fpackage.json',
    '/flags/zz.svg',
    '/docs/swagger-ui.js',
  ])('there is nothing at %s', async (path) => {
    const { status, body } = await ask(openTestApp(), 'GET', path);
    expect([status, body.isSuccessful, body.responseCode]).toEqual([404, false, '30']);
  });

  it('answers every odd reference as it answers an unknown one', async () => {
    const app = openTestApp();
    const { text: unknown } = await ask(app, 'GET', '/api/v1/transactions/unknown/query');
    for (const reference of [
      '..%2f',
      '%2F',
      '%00',
      '%zz',
      '%25252e',
      'a%2Fb',
      'x'.repeat(1_000),
      encodeURIComponent('💸'),
      '%ff',
    ]) {
      const { status, text } = await ask(app, 'GET', `/api/v1/transactions/${reference}/query`);
      expect([reference, status, text]).toEqual([reference, 400, unknown]);
    }
  });
});

describe('rates', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const rival: Merchant = {
    ...merchant,
    id: 'rival',
    limits: { requestsPerSecond: 5, nameEnquiriesPerMinute: 2 },
  };
  const openWithTwo = (served: string[]) =>
    openTestApp({
      identify: async (key) => holderOf(key === 'cml2YWw=' ? rival : merchant),
      rateLimits: createRateLimits(),
      payouts: {
        request: async () => accept(payout),
        find: async (merchantId) => {
          served.push(merchantId);
          return payout;
        },
        apply: async () => [],
      },
    });
  const asRival = { headers: { 'x-api-key': 'cml2YWw=' } };
  const lookUp = '/api/v1/transactions/order-1/query';

  it('a flood by one merchant takes nothing from another', async () => {
    const served: string[] = [];
    const app = openWithTwo(served);
    const refused: (string | null)[] = [];
    for (let round = 0; round < 50; round += 1) {
      for (let request = 0; request < 20; request += 1) {
        const { status, body, headers } = await ask(app, 'GET', lookUp, asRival);
        if (status === 429) refused.push(`${body.responseCode} ${headers.get('retry-after')}`);
      }
      expect((await ask(app, 'GET', lookUp)).status).toBe(200);
    }
    expect(served.filter((id) => id === 'demo')).toHaveLength(50);
    expect(served.filter((id) => id === 'rival')).toHaveLength(5);
    expect(refused).toHaveLength(995);
    expect(new Set(refused)).toEqual(new Set(['65 1']));
  });

  it('serves again when the second is over', async () => {
    const served: string[] = [];
    const app = openWithTwo(served);
    for (let request = 0; request < 10; request += 1) await ask(app, 'GET', lookUp, asRival);
    vi.advanceTimersByTime(1_000);
    for (let request = 0; request < 10; request += 1) await ask(app, 'GET', lookUp, asRival);
    expect(served).toHaveLength(10);
  });

  it('counts name enquiries apart, by the minute, whatever they ask', async () => {
    const app = openWithTwo([]);
    const enquire = async () => {
      vi.advanceTimersByTime(1_000);
      const { status, body, headers } = await ask(app, 'POST', '/api/v1/transactions/name-enquiry', {
        body: {},
        ...asRival,
      });
      return [status, body.responseCode, headers.get('retry-after')];
    };
    expect(await enquire()).toEqual([400, '30', null]);
    expect(await enquire()).toEqual([400, '30', null]);
    expect(await enquire()).toEqual([429, '65', '58']);
    expect((await ask(app, 'GET', lookUp, asRival)).status).toBe(200);
  });

  it('does not count what a stranger or a suspended merchant asks', async () => {
    const counted: string[] = [];
    const rateLimits = {
      ...createRateLimits(),
      limitRequest: async ({ id }: Merchant) => {
        counted.push(id);
        return undefined;
      },
    };
    const stranger = openTestApp({ identify: async () => undefined, rateLimits });
    const suspended = openTestApp({
      identify: async () => holderOf({ ...merchant, status: 'suspended' }),
      rateLimits,
    });
    expect((await ask(stranger, 'POST', balance)).body.responseCode).toBe('63');
    expect((await ask(suspended, 'POST', balance)).body.responseCode).toBe('57');
    expect(counted).toEqual([]);
  });
});

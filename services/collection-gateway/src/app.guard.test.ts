import { DirectoryError, type Merchant } from '@pesewa/directory';
import { createRateLimiter } from '@pesewa/merchant-api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failed, nothingFurther } from './fixtures/answers.ts';
import {
  base64,
  type GatewayRequest,
  holderOf,
  merchant,
  openGateway,
  PUBLIC_KEY,
  payinBody,
  rightHeaders,
} from './fixtures/gateway.ts';

const paths = ['payin', 'complete-payin', 'check-status'] as const;
const statusBody = {
  requestHeader: { clientId: '', requestType: 'GM-Collections' },
  transactionReference: 'order-1',
  transactionCountry: 'GM',
};
const bodyOf = (path: GatewayRequest['path']) =>
  path === 'check-status' ? statusBody : payinBody({ otpCode: '123456' });

/** An operation's answer to a request that is refused before it is read. */
function refusal(path: GatewayRequest['path'], status: number, reason: string, description: string) {
  if (path !== 'check-status') {
    const responseDetails = { ...failed(reason), statusDescription: description };
    return { status, body: { responseDetails, transactionReference: '', ...nothingFurther } };
  }
  const answered = reason === 'UNAUTHORIZED' ? 400 : status;
  const error = {
    400: 'Bad Request',
    429: 'Too Many Requests',
    500: 'Internal Server Error',
    503: 'Service Unavailable',
  }[answered];
  const timestamp = '2025-01-15T12:00:00.000Z';
  const body = { timestamp, status: answered, error, path: '/collection/v1/check-status' };
  return { status: answered, body };
}

const stranger = (path: GatewayRequest['path']) =>
  refusal(
    path,
    401,
    'UNAUTHORIZED',
    'X-business must be the Base64 of your public key, and X-app must be api',
  );

describe.each(paths)('who asks for %s (contract 5)', (path) => {
  const send = (headers: Readonly<Record<string, string>> | Headers, gateway = openGateway()) =>
    gateway.send({ path, body: bodyOf(path), headers });

  it.each([
    ['empty', ''],
    ['not encoded', PUBLIC_KEY],
    ['without padding', base64(PUBLIC_KEY).replace(/=+$/, '')],
    ['of nothing', base64('')],
    ['with a space inside', `${base64(PUBLIC_KEY).slice(0, 4)} ${base64(PUBLIC_KEY).slice(4)}`],
    ['with something behind it', `${base64(PUBLIC_KEY)}x`],
    ['encoded twice', base64(base64(PUBLIC_KEY))],
    ['sent twice', `${base64(PUBLIC_KEY)}, ${base64(PUBLIC_KEY)}`],
    ['of no merchant', base64('pk_fixture_merchant_2')],
    ['of 8 kB', 'A'.repeat(8_192)],
  ])('X-business %s is refused in one shape', async (_, value) => {
    expect(await send({ 'x-business': value })).toEqual(stranger(path));
  });

  it.each([
    ['empty', ''],
    ['in capitals', 'API'],
    ['of another', 'web'],
    ['encoded', base64('api')],
    ['sent twice', 'api, api'],
  ])('X-app %s is refused in the same shape', async (_, value) => {
    expect(await send({ 'x-app': value })).toEqual(stranger(path));
  });

  it.each(['x-app', 'x-business'])('%s absent, or sent twice, is refused in the same shape', async (name) => {
    const absent = new Headers(rightHeaders(''));
    absent.delete(name);
    const twice = new Headers(rightHeaders(''));
    twice.append(name, twice.get(name) ?? '');
    expect(await send(absent)).toEqual(stranger(path));
    expect(await send(twice)).toEqual(stranger(path));
  });

  it('a suspended merchant gets the same answer as a stranger', async () => {
    const suspended = openGateway({
      identify: async () => holderOf({ ...merchant, status: 'suspended' }),
    });
    expect(await send({}, suspended)).toEqual(stranger(path));
  });

  it('a key that is not for collections is refused, and told so where the answer has room', async () => {
    const gateway = openGateway({ identify: async () => holderOf(merchant, ['payouts']) });
    const description = 'X-business is not for collections: send a key that has the scope collections';
    expect(await send({}, gateway)).toEqual(refusal(path, 401, 'UNAUTHORIZED', description));
  });

  it('a key for collections alone is enough', async () => {
    const gateway = openGateway({ identify: async () => holderOf(merchant, ['collections']) });
    expect(await send({}, gateway)).toMatchObject({ status: 200 });
  });

  it('a request from an address that is not allowed is refused, and told so where the answer has room', async () => {
    const listed = { ...merchant, allowedAddresses: ['192.0.2.0/24'] };
    const gateway = openGateway({
      identify: async () => holderOf(listed),
      proxies: { trustedProxies: 1 },
    });
    const from = (address: string) => send({ 'x-forwarded-for': `192.0.2.1, ${address}` }, gateway);
    const description =
      'requests from 198.51.100.9 are not allowed for this merchant: ask your operator to allow the address';
    expect(await from('198.51.100.9')).toEqual(refusal(path, 401, 'UNAUTHORIZED', description));
    expect(await from('192.0.2.9')).toMatchObject({ status: 200 });
  });

  it('a directory out of reach refuses no key', async () => {
    const gateway = openGateway({ identify: () => Promise.reject(new Error('no primary')) });
    expect(await send({}, gateway)).toEqual(
      refusal(
        path,
        503,
        'SERVICE UNAVAILABLE',
        'your key can not be looked up at present: nothing was recorded, send it again',
      ),
    );
  });

  it('a merchant that is stored wrongly is an unexpected error', async () => {
    const gateway = openGateway({ identify: () => Promise.reject(new DirectoryError('malformed')) });
    const description =
      'something broke on our side: check the status of the collection before anything else';
    expect(await send({}, gateway)).toEqual(refusal(path, 500, 'INTERNAL ERROR', description));
  });
});

describe('rates (contract 10.17)', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const openLimited = (perSecond: number, who: Partial<Merchant> = {}) => {
    const count = createRateLimiter(1);
    const counted: string[] = [];
    const gateway = openGateway({
      identify: async (business) =>
        business === base64(PUBLIC_KEY)
          ? holderOf({ ...merchant, ...who, limits: { requestsPerSecond: perSecond } })
          : undefined,
      limitRequest: ({ id, limits }) => {
        counted.push(id);
        return count(id, limits.requestsPerSecond);
      },
    });
    return { gateway, counted };
  };

  it.each(paths)('one request too many for %s says when to come again', async (path) => {
    const { gateway } = openLimited(2);
    const malformed = { path, body: '{' } as const;
    const first = [await gateway.send(malformed), await gateway.send(malformed)];
    expect(first.map(({ status }) => status)).toEqual([400, 400]);
    const answer = await gateway.send(malformed);
    const description = 'too many requests: nothing was recorded, send it again after 1 s';
    expect(answer).toEqual({ ...refusal(path, 429, 'TOO MANY REQUESTS', description), retryAfter: '1' });
    vi.advanceTimersByTime(1_001);
    expect((await gateway.send(malformed)).status).toBe(400);
  });

  it('of all three operations count together, per merchant', async () => {
    const { gateway } = openLimited(2);
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await gateway.send({ path, body: '{' })).status);
    expect(statuses).toEqual([400, 400, 429]);
  });

  it('of strangers and suspended merchants are not counted', async () => {
    const { gateway, counted } = openLimited(1, { status: 'suspended' });
    await gateway.send({ path: 'payin', body: payinBody() });
    await gateway.send({ path: 'payin', body: payinBody(), headers: { 'x-business': 'x' } });
    await gateway.send({ path: 'payin', body: payinBody(), headers: { 'x-app': 'web' } });
    expect(counted).toEqual([]);
  });
});

describe('a database out of reach', () => {
  const broken = () => Promise.reject(new Error('no primary'));

  it.each([
    ['payin', 'the collection may or may not be recorded: check its status before you send it again'],
    ['complete-payin', 'the completion was not passed on: send it again'],
    ['check-status', ''],
  ] as const)('%s says what to do', async (path, description) => {
    const gateway = openGateway({ collections: { accept: broken, find: broken }, complete: broken });
    expect(await gateway.send({ path, body: bodyOf(path) })).toEqual(
      refusal(path, 503, 'SERVICE UNAVAILABLE', description),
    );
  });
});

describe('a refusal that time heals', () => {
  it.each(['payin', 'complete-payin'] as const)('of %s says when and how', async (path) => {
    const description = 'too many for this customerNumber: send it again after 1234 s';
    const refused = async () => ({
      ok: false as const,
      refusal: { reason: 'TOO MANY REQUESTS' as const, reference: '', description, retryAfterSeconds: 1_234 },
    });
    const gateway = openGateway({
      collections: { accept: refused, find: async () => undefined },
      complete: refused,
    });
    expect(await gateway.send({ path, body: bodyOf(path) })).toEqual({
      ...refusal(path, 429, 'TOO MANY REQUESTS', description),
      retryAfter: '1234',
    });
  });
});

describe('paths and methods', () => {
  const request = async (method: string, path: string, app = openGateway().app) => {
    const response = await app.request(path, { method, headers: rightHeaders('') });
    const text = await response.text();
    return {
      status: response.status,
      allow: response.headers.get('allow'),
      body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>),
    };
  };

  it.each([
    ['GET', '/collection/v1/payin', 'POST'],
    ['PUT', '/collection/v1/complete-payin', 'POST'],
    ['DELETE', '/collection/v1/check-status', 'POST'],
    ['OPTIONS', '/collection/v1/payin', 'POST'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('%s %s is 405 and names what it takes', async (method, path, allow) => {
    const timestamp = '2025-01-15T12:00:00.000Z';
    expect(await request(method, path)).toEqual({
      status: 405,
      allow,
      body: { timestamp, status: 405, error: 'Method Not Allowed', path },
    });
  });

  it.each([
    '/',
    '/collection/v1',
    '/collection/v1/payin/',
    '/collection/v1//payin',
    '/collection/v1/Payin',
    '/collection/v2/payin',
    '/api/v1/banks',
  ])('there is nothing at %s', async (path) => {
    const { status, allow, body } = await request('POST', path);
    expect([status, allow]).toEqual([404, null]);
    expect(body).toEqual({
      timestamp: '2025-01-15T12:00:00.000Z',
      status: 404,
      error: 'Not Found',
      path,
    });
  });

  it.each([
    ['/a<b>"\'&', '/a%3Cb%3E%22%27%26'],
    ['/%3Cscript%3E', '/%3Cscript%3E'],
    ['/%0d%0aset-cookie:a', '/%0D%0Aset-cookie:a'],
    ['/%e2%80%aeabc', '/%E2%80%AEabc'],
    [`/${'x'.repeat(1_000)}`, `/${'x'.repeat(199)}`],
  ])('the path %s is shown escaped and bounded', async (path, shown) => {
    expect((await request('POST', path)).body).toMatchObject({ status: 404, path: shown });
  });
});

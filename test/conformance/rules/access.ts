import { hashPublicKey } from '@pesewa/directory';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import {
  api,
  bulkBody,
  type Changes,
  encodeKey,
  expectAccepted,
  expectFound,
  number,
  singleBody,
} from '../conformance.ts';

const balance = '/api/v1/wallets/balance';
const single = '/api/v1/transactions/transfer/single';
const routes: readonly (readonly ['GET' | 'POST', string])[] = [
  ['POST', single],
  ['POST', '/api/v1/transactions/transfer/bulk'],
  ['GET', '/api/v1/transactions/any/query'],
  ['POST', balance],
  ['GET', '/api/v1/banks?country=NGA'],
  ['POST', '/api/v1/transactions/name-enquiry'],
  ['GET', '/api/v1/transactions'],
  ['GET', '/api/v1/batches'],
];

describe('contract 5: x-api-key is the Base64 of the public key', () => {
  it.each(routes)('contract 10.1: 63: %s %s without it', async (method, path) => {
    expect(await api.call({ method, path, key: null })).toMatchObject({ status: 401, code: '63' });
  });

  it('nothing but the one right spelling counts, and every wrong one gets the same bytes', async () => {
    const right = encodeKey(api.demoKey);
    const wrong: readonly (readonly string[])[] = [
      [],
      ['x-api-key', ''],
      ['x-api-key', '   '],
      ['x-api-key', '===='],
      ['x-api-key', 'AAAA'],
      ['x-api-key', api.demoKey],
      ['x-api-key', encodeKey(right)],
      ['x-api-key', right.replace(/=+$/, '')],
      ['x-api-key', `${right}=`],
      ['x-api-key', `${right}AAAA`],
      ['x-api-key', `${right.slice(0, 8)} ${right.slice(8)}`],
      ['x-api-key', Buffer.from(`${api.demoKey}~~~`).toString('base64url')],
      ['x-api-key', right.replace(/(.)==$/, (_all, last: string) => `${nextLetter(last)}==`)],
      ['x-api-key', right.toLowerCase()],
      ['x-api-key', `"${right}"`],
      ['x-api-key', `Bearer ${right}`],
      ['x-api-key', 'A'.repeat(8_192)],
      ['x-api-key', right, 'x-api-key', right],
      ['x-api-key', right, 'X-API-KEY', encodeKey(api.rivalKey)],
      ['x-api-key', `${right}, ${right}`],
      ['authorization', `Bearer ${right}`],
      ['x-business', right],
      ['cookie', `x-api-key=${right}`],
    ];
    const answers = await Promise.all(
      wrong.map((headers) => api.call({ method: 'POST', path: balance, key: null, headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 401));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.code).toBe('63');
  });

  it('a key in the query or in the body is no key', async () => {
    const right = encodeURIComponent(encodeKey(api.demoKey));
    const query = { method: 'POST', path: `${balance}?x-api-key=${right}`, key: null } as const;
    expect(await api.call(query)).toMatchObject({ status: 401, code: '63' });
    const body = singleBody('in-body', { 'x-api-key': encodeKey(api.demoKey) });
    expect(await api.submit(body, null)).toMatchObject({ status: 401, code: '63' });
  });

  it('the name of the header is read in any case', async () => {
    for (const name of ['X-API-KEY', 'X-Api-Key', 'x-api-key']) {
      const headers = [name, encodeKey(api.demoKey)];
      const answer = await api.call({ method: 'POST', path: balance, key: null, headers });
      expect(answer).toMatchObject({ status: 200, code: '00' });
    }
  });

  it('a merchant may have several keys, and a removed one is unknown', async () => {
    const first = await api.addMerchant('rotating', { funding: null });
    const added = await api.directory.addKey('rotating', { scopes: ['payouts'] });
    if (!added.ok) throw new Error(added.refusal.message);
    const ask = (key: string) => api.call({ method: 'POST', path: balance, key });
    expect((await ask(added.value.publicKey)).code).toBe('00');
    await api.directory.removeKey('rotating', hashPublicKey(first));
    expect((await ask(first)).code).toBe('63');
    expect((await ask(added.value.publicKey)).code).toBe('00');
  });

  it('a key for collections is known, and permits no payouts (contract 10.20)', async () => {
    const first = await api.addMerchant('collector', { funding: null });
    const added = await api.directory.addKey('collector', { scopes: ['collections'] });
    if (!added.ok) throw new Error(added.refusal.message);
    const submit = (key: string) => api.submit(singleBody('by-scope'), key);
    expect(await submit(added.value.publicKey)).toMatchObject({ status: 403, code: '57' });
    expect((await api.call({ method: 'POST', path: balance, key: first })).code).toBe('00');
    expect((await api.lookUp('by-scope')).code).toBe('25');
  });

  it('is judged before everything else (contract 10.2)', async () => {
    expect(await api.submit('{', 'a-key-that-nobody-has')).toMatchObject({ status: 401, code: '63' });
  });
});

describe('contract 10.1: 57: a suspended merchant', () => {
  it.each(routes)('%s %s is not permitted, whatever the body', async (method, path) => {
    const id = `suspended-${routes.findIndex((route) => route[1] === path)}`;
    const key = await api.addMerchant(id, { funding: null });
    await api.directory.suspend(id);
    expect(await api.call({ method, path, key, ...(method === 'POST' && { body: '{' }) })).toMatchObject({
      status: 403,
      code: '57',
    });
  });
});

describe('contract 4.3: payout status lookup', () => {
  it('finds by the merchant’s reference and by ours', async () => {
    const reference = api.scenario.reference('found');
    const { transactionReference } = expectAccepted(await api.submit(singleBody(reference)));
    expect(expectFound(await api.lookUp(reference)).transactionReference).toBe(transactionReference);
    expect(expectFound(await api.lookUp(transactionReference)).merchantReference).toBe(reference);
  });

  it('contract 7: 25, in the same bytes for unknown, another merchant’s, and a batch’s own', async () => {
    const reference = api.scenario.reference('foreign');
    const { transactionReference } = expectAccepted(await api.submit(singleBody(reference)));
    const batch = api.scenario.reference('batch');
    expect((await api.submitBulk(bulkBody(batch, 1))).code).toBe('09');
    const answers = await Promise.all([
      api.lookUp('nobody-has-it'),
      api.lookUp(reference, api.rivalKey),
      api.lookUp(transactionReference, api.rivalKey),
      api.lookUp(`${batch}.0`, api.rivalKey),
      api.lookUp(batch),
    ]);
    expect(answers.map(({ status, code }) => [status, code])).toEqual(answers.map(() => [400, '25']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.data).toBeUndefined();
  });

  it.each([
    '%2e%2e',
    '..',
    '.',
    '%2e',
    '..%2f..%2fbanks',
    '%2F',
    '%5c',
    '%00',
    '%0d%0a',
    '%zz',
    '%25252e',
    '%E0%A4%A',
    '%F0%9F%92%B8',
    '',
    'x'.repeat(1_000),
    '$ne',
    'a%20b',
    'single;x=1',
  ])('a reference of %j finds nothing and reaches nothing else', async (segment) => {
    const answer = await api.call({ path: `/api/v1/transactions/${segment}/query` });
    // Code 25 is only allowed with status 400, in an answer about a reference.
    expect([
      [400, '25'],
      [404, '30'],
    ]).toContainEqual([answer.status, answer.code]);
    expect(answer.data).toBeUndefined();
  });

  it('no way round leads from a lookup to another operation', async () => {
    for (const path of [
      '/api/v1/transactions/%2e%2e/banks?country=NGA',
      '/api/v1/transactions/../banks?country=NGA',
      '/api/v1/transactions/%2e%2e%2fbanks?country=NGA',
      '/api/v1//banks?country=NGA',
    ])
      expect((await api.call({ path })).status).toBe(404);
  });
});

describe('contract 9: the version is part of the path', () => {
  it.each([
    '/',
    '/api/v2/banks?country=NGA',
    '/v1/banks?country=NGA',
    '/API/V1/banks?country=NGA',
    '/api/v1/nothing',
    '/livez',
    '/metrics',
    '/accounts/demo/NGN',
  ])('%s is nowhere', async (path) => {
    const nowhere = { status: 404, code: '30', successful: false, data: undefined };
    expect(await api.call({ path })).toMatchObject(nowhere);
  });

  it.each(routes)('another method than %s %s does nothing', async (method, path) => {
    for (const other of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
      if (other === method) continue;
      const answer = await api.call({ method: other, path });
      expect([404, 405]).toContain(answer.status);
      expect(answer).toMatchObject({ successful: false, data: undefined });
    }
  });
});

describe('contract 10.17: 65: the rate of one merchant', () => {
  /** Of three requests at once at least one is too many, however slow the machine is. */
  const threeTimes = <Value>(ask: () => Promise<Value>) => Promise.all([ask(), ask(), ask()]);
  const addSlowMerchant = (id: string) =>
    api.addMerchant(id, { funding: null, limits: { requestsPerSecond: 1 } });

  it('beyond it is refused with Retry-After, and leaves another merchant alone', async () => {
    const floodKey = await addSlowMerchant('flood');
    const ask = (key: string) => api.call({ method: 'POST', path: balance, key });
    const flood = await threeTimes(() => ask(floodKey));
    const others = await Promise.all(Array.from({ length: 20 }, () => ask(api.demoKey)));
    const refused = flood.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(flood.length);
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set(['00']));
    for (const { code, headers } of refused) {
      expect(code).toBe('65');
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
  });

  it('is judged before the format', async () => {
    const key = await addSlowMerchant('malformed');
    const answers = await threeTimes(() => api.submit('{', key));
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(['30', '65']));
  });
});

describe('P3: a refused payout leaves nothing', () => {
  it('no record, no hold, no request to the rail, and its reference is free', async () => {
    const key = await api.addMerchant('refused', {
      limits: { requestsPerSecond: 1_000, perPayoutMaxMinor: { NGN: 50_000n } },
    });
    const wrong: readonly (readonly [Changes, string])[] = [
      [{ 'sender.name': '' }, '30'],
      [{ 'beneficiary.amount': number('0') }, '13'],
      [{ 'beneficiary.bankCode': 'nobody' }, '92'],
      [{ 'beneficiary.amount': number('500.01') }, '61'],
      [{ currency: 'GHS', country: 'Ghana', 'beneficiary.bankCode': 'GHMTN' }, '51'],
    ];
    const reference = api.scenario.reference('refused');
    for (const [changes, code] of wrong) {
      const marked = { 'beneficiary.amount': number('471.13'), ...changes };
      const answer = await api.submit(singleBody(reference, marked), key);
      expect([answer.code, answer.successful]).toEqual([code, false]);
      expect((await api.lookUp(reference, key)).code).toBe('25');
    }
    // Once a later payout of the same wallet has ended, the effects of an earlier one would be visible.
    expectAccepted(await api.submit(singleBody(reference), key));
    await eventually(async () =>
      expect(expectFound(await api.lookUp(reference, key)).transactionStatus).toBe('COMPLETED'),
    );
    const { operator } = api.scenario.stack;
    await eventually(async () =>
      expect(await operator.wallet('refused', 'NGN')).toMatchObject({ available: '999899', held: '0' }),
    );
    const webhooks = await eventually(async () => {
      const all = await api.scenario.stack.simulator.received('refused', reference);
      expect(all).not.toEqual([]);
      return all;
    });
    expect(webhooks).toHaveLength(1);
    const { simulatorUrl } = api.scenario.stack.runFile();
    const journal = await (await fetch(`${simulatorUrl}/control/journal`)).text();
    expect(journal).toContain('"amount":"100"');
    expect(journal).not.toMatch(/"amount":"(?:471\.13|500\.01)"/);
  });
});

/** The Base64 letter that differs only in a bit that decoding ignores because of padding. */
function nextLetter(letter: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return letters[letters.indexOf(letter) + 1] ?? 'A';
}

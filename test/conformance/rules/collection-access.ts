import { hashPublicKey } from '@pesewa/directory';
import { describe, expect, it } from 'vitest';
import { type CollectionCall, collections, expectPending, type Liberties } from '../collections.ts';
import { encodeKey } from '../conformance.ts';
import { base64, next, paths, payinBody, statusBody } from './collection-requests.ts';

/** Expects that all three operations refuse the caller; returns the two texts, which must not depend on the cause. */
async function expectStranger(liberties: Liberties): Promise<readonly [string, string]> {
  const reference = next('stranger');
  const body = payinBody(reference);
  const payin = await collections.payin(body, liberties);
  const complete = await collections.complete(body, liberties);
  const check = await collections.check(reference, liberties);
  expect(payin).toMatchObject({ status: 401, reason: 'UNAUTHORIZED', reference: '' });
  expect(check).toMatchObject({ status: 400, code: undefined, error: 'Bad Request' });
  expect(complete.text).toBe(payin.text);
  expect((await collections.check(reference)).code).toBe('25');
  return [payin.text, check.text.replace(/"timestamp":"[^"]+"/, '')];
}

async function expectOneShape(causes: readonly Liberties[]): Promise<void> {
  const texts: (readonly [string, string])[] = [];
  for (const liberties of causes) texts.push(await expectStranger(liberties));
  expect(new Set(texts.map(([payin]) => payin)).size).toBe(1);
  expect(new Set(texts.map(([, check]) => check)).size).toBe(1);
}

describe('contract 5: X-business is the Base64 of the public key', () => {
  it('contract 10.10: nothing but the one right spelling counts, and every wrong one gets the same bytes', async () => {
    const right = encodeKey(collections.demoKey);
    const wrong: readonly (readonly string[])[] = [
      [],
      ['x-business', ''],
      ['x-business', '   '],
      ['x-business', '===='],
      ['x-business', 'AAAA'],
      ['x-business', 'not base64!'],
      ['x-business', collections.demoKey],
      ['x-business', encodeKey(right)],
      ['x-business', encodeKey('a-key-that-nobody-has')],
      ['x-business', right.replace(/=+$/, '')],
      ['x-business', `${right}=`],
      ['x-business', `${right}AAAA`],
      ['x-business', `${right.slice(0, 8)} ${right.slice(8)}`],
      ['x-business', `${right.slice(0, 8)}\t${right.slice(8)}`],
      ['x-business', Buffer.from(`${collections.demoKey}~~~`).toString('base64url')],
      ['x-business', right.replace(/(.)(=+)$/, (_all, last: string, pad: string) => `${after(last)}${pad}`)],
      ['x-business', right.toLowerCase()],
      ['x-business', `"${right}"`],
      ['x-business', `Bearer ${right}`],
      ['x-business', 'A'.repeat(8_192)],
      ['x-business', right, 'x-business', right],
      ['x-business', right, 'X-BUSINESS', encodeKey(collections.rivalKey)],
      ['x-business', `${right}, ${right}`],
      ['x-api-key', right],
      ['authorization', `Bearer ${right}`],
      ['cookie', `x-business=${right}`],
    ];
    await expectOneShape(wrong.map((headers) => ({ key: null, headers })));
  });

  it('a suspended merchant is unknown', async () => {
    const key = await collections.addMerchant('suspended');
    await collections.directory.suspend('suspended');
    await expectOneShape([{ key }, { key: null }]);
  });

  it('a merchant may have several keys, and a removed one is unknown', async () => {
    const first = await collections.addMerchant('rotating');
    const added = await collections.directory.addKey('rotating', { scopes: ['collections'] });
    if (!added.ok) throw new Error(added.refusal.message);
    const key = added.value.publicKey;
    await collections.directory.removeKey('rotating', hashPublicKey(first));
    await expectStranger({ key: first });
    expectPending(await collections.payin(payinBody(next('rotated')), { key }));
  });

  it('a key for payouts permits no collections (contract 10.20)', async () => {
    await collections.addMerchant('payer');
    const added = await collections.directory.addKey('payer', { scopes: ['payouts'] });
    if (!added.ok) throw new Error(added.refusal.message);
    await expectStranger({ key: added.value.publicKey });
  });

  it('another merchant’s key acts for that merchant', async () => {
    const reference = next('other');
    expectPending(await collections.payin(payinBody(reference), { key: collections.rivalKey }));
    expect((await collections.check(reference)).code).toBe('25');
    expect((await collections.check(reference, { key: collections.rivalKey })).code).toBe('09');
  });

  it('a key in the query or in the body is no key', async () => {
    const reference = next('query');
    const path = `${paths.payin}?x-business=${encodeURIComponent(encodeKey(collections.demoKey))}`;
    const inBody = { 'x-business': encodeKey(collections.demoKey), publicKey: collections.demoKey };
    const body = payinBody(reference, inBody);
    const answer = await collections.call({ method: 'POST', path, key: null, body });
    expect(answer.status).toBe(401);
    expect((await collections.check(reference)).code).toBe('25');
  });
});

describe('contract 5: X-app is api', () => {
  it('contract 10.10: anything else is refused as a wrong key is', async () => {
    const values = ['', '   ', 'API', 'Api', 'web', 'apix', 'ap', '"api"', 'api,', 'api, api', base64('api')];
    const twice = { app: 'api', headers: ['x-app', 'api'] };
    await expectOneShape([{ key: null }, { app: null }, ...values.map((app) => ({ app })), twice]);
  });
});

describe('the names of headers are read in any case (contract 5)', () => {
  it.each<readonly [string, (name: string) => string]>([
    ['small', (name) => name.toLowerCase()],
    ['large', (name) => name.toUpperCase()],
    ['as the samples write them', (name) => name],
  ])('%s', async (_what, spell) => {
    const reference = next('case');
    const body = payinBody(reference);
    const headersFor = (module: string) =>
      Object.entries({
        'X-module': module,
        'X-business': encodeKey(collections.demoKey),
        'X-app': 'api',
        'Content-Type': 'application/json',
        Accept: 'application/json',
      }).flatMap(([name, value]) => [spell(name), value]);
    const post = (path: string, text: string, module: string): CollectionCall => ({
      method: 'POST',
      path,
      key: null,
      module: null,
      app: null,
      type: null,
      headers: headersFor(module),
      body: text,
    });
    const number = /"customerNumber":"(\d+)"/.exec(body)?.[1] ?? '';
    const payin = await collections.call(post(paths.payin, body, base64(`100${reference}${number}`)));
    expect(payin.text).toContain('"responseCode":"09"');
    const check = await collections.call(post(paths.check, statusBody(reference), base64(reference)));
    expect(check.text).toContain('"responseCode":"09"');
  });

  it('Accept may be left out, and may be anything', async () => {
    for (const accept of ['text/html', '*/*', ''])
      expectPending(await collections.payin(payinBody(next('accept')), { headers: ['accept', accept] }));
  });
});

/** The Base64 letter that differs only in a bit that decoding ignores because of padding. */
function after(letter: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return letters[letters.indexOf(letter) + 1] ?? 'A';
}

import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { becomes, collections, expectPending } from '../collections.ts';
import type { Changes } from '../conformance.ts';
import { base64, customerIn, next, payinBody, statusBody } from './collection-requests.ts';

const rejected = { status: 400, code: undefined, message: undefined, error: 'Bad Request' };

describe.concurrent('contract 2.10 and 10.14: the answers of check-status', () => {
  it.each([
    ['00', 'COMPLETED', '9999'],
    ['06', 'FAILED', '0001'],
    ['09', 'PENDING', '0017'],
  ])('%s %s, by the merchant’s reference and by ours', async (code, message, digits) => {
    const reference = next('state');
    const body = payinBody(reference, { customerNumber: customerIn('GH', digits) }, 'GHATL');
    const ours = expectPending(await collections.payin(body));
    await becomes(reference, code);
    for (const asked of [reference, ours])
      expect(await collections.check(asked)).toMatchObject({ status: 200, code, message });
  });

  it('never 25 after 09, from the first moment on', async () => {
    const codes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const reference = next('fresh');
        const ours = expectPending(await collections.payin(payinBody(reference)));
        return [(await collections.check(reference)).code, (await collections.check(ours)).code];
      }),
    );
    expect(new Set(codes.flat())).toEqual(new Set(['09']));
  });

  it('25 NOT FOUND in the same bytes for unknown and for another merchant’s', async () => {
    const reference = next('foreign');
    const ours = expectPending(await collections.payin(payinBody(reference)));
    const key = collections.rivalKey;
    const answers = [
      await collections.check(next('unknown')),
      await collections.check('x'),
      await collections.check(reference, { key }),
      await collections.check(ours, { key }),
      await collections.check(reference.toUpperCase()),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 200, code: '25', message: 'NOT FOUND' });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('a merchant’s own reference comes before ours of the same text', async () => {
    const reference = next('first');
    const ours = expectPending(await collections.payin(payinBody(reference)));
    const named = payinBody(ours, { customerNumber: customerIn('KE') }, 'KESAF');
    expectPending(await collections.payin(named));
    await eventually(async () => expect((await collections.check(ours)).code).toBe('00'));
    expect((await collections.check(reference)).code).toBe('09');
  });

  it.each(['GH-Collections', 'Collections', 'B', 'GM-Collections', 'anything', '$ne', 'é', 'x'.repeat(40)])(
    'requestType %s is as good as any',
    async (requestType) => {
      const reference = next('type');
      expectPending(await collections.payin(payinBody(reference)));
      const body = statusBody(reference, { 'requestHeader.requestType': requestType });
      expect(await collections.check({ body })).toMatchObject({ status: 200, code: '09' });
    },
  );

  it('clientId may be left out, null, empty or any', async () => {
    for (const clientId of [undefined, null, '', 'any']) {
      const body = statusBody('nobody-has-it', { 'requestHeader.clientId': clientId });
      expect((await collections.check({ body })).code).toBe('25');
    }
  });

  it.each(['GH', 'gh', 'Gh'])('transactionCountry %s is as good as payin takes it', async (country) => {
    const body = statusBody('nobody-has-it', { transactionCountry: country });
    expect((await collections.check({ body })).code).toBe('25');
  });

  it('further fields change nothing', async () => {
    const body = statusBody('nobody-has-it', { merchantId: 'rival', status: 'COMPLETED', __proto__: 'x' });
    expect((await collections.check({ body })).code).toBe('25');
  });
});

describe('contract 4.9: everything refused is 400 in exactly four fields', () => {
  const wrong = [
    undefined,
    null,
    '',
    '   ',
    7,
    true,
    {},
    [],
    ['x'],
    { $ne: '' },
    { $gt: '' },
    'a\u0000b',
    '\ud800',
  ];

  it.each(['requestHeader.requestType', 'transactionReference', 'transactionCountry'])(
    '%s must be there, and text',
    async (field) => {
      const reference = next('four');
      expectPending(await collections.payin(payinBody(reference)));
      for (const value of wrong) {
        const body = statusBody(reference, { [field]: value });
        // The module fits the reference if it is a text, so that only the tested field is wrong.
        const module =
          field === 'transactionReference' && typeof value === 'string' ? base64(value) : base64(reference);
        expect(await collections.check({ body }, { module })).toMatchObject(rejected);
      }
    },
  );

  it.each<readonly [string, Changes]>([
    ['no header', { requestHeader: undefined }],
    ['a header that is none', { requestHeader: 'x' }],
    ['a header that is a list', { requestHeader: [] }],
    ['a requestType that is too long', { 'requestHeader.requestType': 'x'.repeat(41) }],
    ['a clientId that is no text', { 'requestHeader.clientId': {} }],
    ['a country of three letters', { transactionCountry: 'GMB' }],
    ['a country of one letter', { transactionCountry: 'G' }],
    ['a country by its name', { transactionCountry: 'Gambia' }],
    ['digits for a country', { transactionCountry: '22' }],
    ['a reference that is too long', { transactionReference: 'x'.repeat(65) }],
    ['a reference with a slash', { transactionReference: 'a/b' }],
    ['a reference with a space', { transactionReference: 'a b' }],
    ['a reference that is a way up', { transactionReference: '../payin' }],
  ])('%s', async (_what, changes) => {
    const body = statusBody('nobody-has-it', changes);
    expect(await collections.check({ body })).toMatchObject(rejected);
  });

  it('repeats nothing of what was sent', async () => {
    const body = statusBody('nobody-has-it', { transactionCountry: '<script>canary' });
    const answer = await collections.check({ body });
    expect(answer).toMatchObject(rejected);
    expect(answer.text).not.toContain('canary');
    const query = await collections.call({
      method: 'POST',
      path: '/collection/v1/check-status?canary=<script>',
      body: '{',
    });
    expect(query.text).not.toContain('canary');
    expect(query.text).toMatch(/"path":"\/collection\/v1\/check-status"\}$/);
  });

  it('its timestamp is now, in UTC', async () => {
    const { text } = await collections.check({ body: '{' });
    const timestamp = /"timestamp":"([^"]+Z)"/.exec(text)?.[1] ?? '';
    expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(30_000);
  });
});

import { describe, expect, it } from 'vitest';
import { type Gateway, referenceOf } from './fixtures/answers.ts';
import { base64, holderOf, merchant, openGateway, PUBLIC_KEY, payinBody } from './fixtures/gateway.ts';

describe('check-status', () => {
  const check = (
    gateway: Gateway,
    transactionReference: string,
    more: Readonly<Record<string, unknown>> = {},
  ) => {
    const requestHeader = { clientId: '', requestType: 'GM-Collections' };
    return gateway.send({
      path: 'check-status',
      body: { requestHeader, transactionReference, transactionCountry: 'GM', ...more },
    });
  };
  const says = (responseCode: string, responseMessage: string) => ({
    status: 200,
    body: { serverResponse: { responseDetails: { responseMessage, responseCode } } },
  });

  it('gives each state by the merchant’s reference and by ours', async () => {
    const gateway = openGateway();
    const reference = referenceOf(await gateway.send({ path: 'payin', body: payinBody() }));
    expect(await check(gateway, 'order-1')).toEqual(says('09', 'PENDING'));
    await gateway.observe({ reference, status: 'completed' });
    expect(await check(gateway, 'order-1')).toEqual(says('00', 'COMPLETED'));
    expect(await check(gateway, reference)).toEqual(says('00', 'COMPLETED'));
    expect(await check(gateway, 'order-2')).toEqual(says('25', 'NOT FOUND'));
  });

  it.each(['gm', 'Gm', 'GM'])('takes the country %s, as payin does', async (transactionCountry) => {
    expect(await check(openGateway(), 'order-1', { transactionCountry })).toEqual(says('25', 'NOT FOUND'));
  });

  it('never asks a rail', async () => {
    const gateway = openGateway();
    gateway.rail.script.initiation = { kind: 'unknown', why: 'timeout' };
    await gateway.send({ path: 'payin', body: payinBody() });
    const asked = gateway.rail.initiations.length + gateway.rail.completions.length;
    for (let round = 0; round < 20; round += 1) {
      expect(await check(gateway, 'order-1')).toEqual(says('09', 'PENDING'));
    }
    expect(gateway.rail.initiations.length + gateway.rail.completions.length).toBe(asked);
  });

  it('answers for another merchant’s collection as for an unknown one', async () => {
    const gateway = openGateway({
      identify: async (business) =>
        holderOf({ ...merchant, id: business === base64(PUBLIC_KEY) ? 'demo' : 'rival' }),
    });
    const reference = referenceOf(await gateway.send({ path: 'payin', body: payinBody() }));
    for (const asked of ['order-1', reference]) {
      const requestHeader = { clientId: '', requestType: 'x' };
      const body = { requestHeader, transactionReference: asked, transactionCountry: 'GM' };
      const headers = { 'x-business': base64('pk_of_the_rival_merchant') };
      expect(await gateway.send({ path: 'check-status', body, headers })).toEqual(says('25', 'NOT FOUND'));
    }
  });

  const rejected = {
    status: 400,
    body: {
      timestamp: '2025-01-15T12:00:00.000Z',
      status: 400,
      error: 'Bad Request',
      path: '/collection/v1/check-status',
    },
  };
  const requestHeader = { clientId: '', requestType: 'GM-Collections' };
  const right = { requestHeader, transactionReference: 'order-1', transactionCountry: 'GM' };

  it.each<[string, unknown]>([
    ['a reference with a space', { ...right, transactionReference: 'order 1' }],
    ['an empty reference', { ...right, transactionReference: '' }],
    ['an operator for a reference', { ...right, transactionReference: { $ne: '' } }],
    ['no reference', { ...right, transactionReference: undefined }],
    ['a country by its name', { ...right, transactionCountry: 'Gambia' }],
    ['letters that are no country', { ...right, transactionCountry: 'XX' }],
    ['no country', { ...right, transactionCountry: undefined }],
    ['an empty requestType', { ...right, requestHeader: { clientId: '', requestType: '' } }],
    ['no requestHeader', { ...right, requestHeader: undefined }],
    ['a requestHeader of text', { ...right, requestHeader: 'GM-Collections' }],
    ['a list', [right]],
    ['nothing', null],
  ])('rejects %s with four fields', async (_name, body) => {
    const answer = await openGateway().send({
      path: 'check-status',
      body: JSON.stringify(body),
      module: 'order-1',
    });
    expect(answer).toEqual(rejected);
  });

  it.each([
    ['half a body', '{"transactionReference":'],
    ['a key twice', '{"transactionReference":"order-1","transactionReference":"order-2"}'],
    ['deep nesting', '['.repeat(1_000)],
    ['more than 16 kB', `${JSON.stringify(right)}${' '.repeat(16_384)}`],
    ['an empty body', ''],
  ])('rejects %s with four fields', async (_name, body) => {
    expect(await openGateway().send({ path: 'check-status', body, module: 'order-1' })).toEqual(rejected);
  });

  it.each([
    ['of a payin', base64('100order-12203001234')],
    ['of another reference', base64('order-2')],
    ['not encoded', 'order-1'],
    ['sent twice', `${base64('order-1')}, ${base64('order-1')}`],
    ['empty', ''],
  ])('rejects a security module %s with four fields', async (_name, value) => {
    const headers = { 'x-module': value };
    expect(await openGateway().send({ path: 'check-status', body: right, headers })).toEqual(rejected);
  });
});

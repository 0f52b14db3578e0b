import { collectionCountries } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { failed, nothingFurther, pending } from './fixtures/answers.ts';
import {
  base64,
  type GatewayAnswer,
  LISTED_ORIGIN,
  openGateway,
  payinBody,
  rightHeaders,
} from './fixtures/gateway.ts';

const ghana = {
  requestHeader: { clientId: '', requestType: 'Collections' },
  transactionCurrency: 'GHS',
  transactionCountry: 'GH',
  operatorCode: 'GHMTN',
};
const descriptionOf = ({ body }: GatewayAnswer) =>
  (body['responseDetails'] as { readonly statusDescription?: string }).statusDescription;

describe('the form of a payin (contract 2.8 and 10.11)', () => {
  it.each([
    ['customerNumber', { customerNumber: '' }],
    ['transactionReference', { transactionReference: 'a b' }],
    ['transactionAmount', { transactionAmount: '100' }],
    ['transactionCountry', { transactionCountry: 'XX' }],
    ['transactionCurrency', { transactionCurrency: 'ZZZ' }],
    ['requestHeader', { requestHeader: undefined }],
    ['requestHeader.requestType', { requestHeader: { clientId: '', requestType: 'Collections' } }],
    ['transactionType', ghana],
    ['transactionType', { ...ghana, transactionType: '3' }],
    ['operatorCode', { operatorCode: undefined }],
    ['webhookUrl', { webhookUrl: 'ftp://merchant.example' }],
    ['webhookUrl', { webhookUrl: 'https://a:b@merchant.example' }],
    ['webhookUrl', { webhookUrl: 'merchant.example' }],
    ['customerNumber', { customerNumber: '12345' }],
    ['customerNumber', { customerNumber: '1234567890123456' }],
    ['customerNumber', { customerNumber: '++2203001234' }],
    ['customerNumber', { customerNumber: '220 300 1234' }],
    ['customerNumber', { customerNumber: ' 2203001234' }],
    ['customerNumber', { customerNumber: '٢٢٠٣٠٠١٢٣٤' }],
    ['customerNumber', { customerNumber: 2203001234 }],
    ['customerNumber', { customerNumber: { $ne: '' } }],
    ['successUrl', { successUrl: 'javascript:alert(1)' }],
    ['errorUrl', { errorUrl: 'data:text/html,a' }],
    ['cancelUrl', { cancelUrl: '/cancelled' }],
  ])('with a malformed %s is an invalid request', async (field, changes) => {
    const gateway = openGateway();
    const answer = await gateway.send({ path: 'payin', body: payinBody(changes) });
    expect(answer.status).toBe(400);
    expect(answer.body['responseDetails']).toMatchObject(failed('INVALID REQUEST'));
    expect(descriptionOf(answer)).toMatch(new RegExp(`^${field} `));
  });

  it.each(['XX', 'Gambia', 'G'])(
    'of the country %s names those that there are',
    async (transactionCountry) => {
      const answer = await openGateway().send({ path: 'payin', body: payinBody({ transactionCountry }) });
      expect(descriptionOf(answer)).toBe(
        `transactionCountry must be one of ${collectionCountries.join(', ')}`,
      );
    },
  );

  it.each([
    'http://merchant.example/hook',
    'https://merchant.example:8443/hook',
    'http://127.0.0.1/hook',
    'http://127.0.0.1:4071/hook',
    'https://127.1/hook',
    'https://0x7f.1/hook',
    'https://2130706433/hook',
    'https://localhost/hook',
    'https://10.1.2.3/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hook',
    'https://[::ffff:7f00:1]/hook',
    'https://ledger.pesewa.svc.cluster.local/hook',
    'https://mongo/hook',
  ])('to the webhook address %s is an invalid request, and leaves nothing', async (webhookUrl) => {
    const gateway = openGateway();
    const answer = await gateway.send({ path: 'payin', body: payinBody({ webhookUrl }) });
    expect([answer.status, descriptionOf(answer)]).toEqual([
      400,
      'webhookUrl must be https on port 443 of the public internet',
    ]);
    expect([gateway.stored.size, gateway.rail.initiations.length]).toEqual([0, 0]);
  });

  it.each([
    { webhookUrl: `${LISTED_ORIGIN}/merchant/demo/collections` },
    { webhookUrl: '' },
    { customerNumber: '+2203001234' },
    { customerNumber: '220300' },
    { customerNumber: '220300123456789' },
    { successUrl: 'http://shop.example/done?a=b', errorUrl: 'https://shop.example', cancelUrl: null },
    { customerName: null, customerEmail: undefined, transactionDescription: ' ' },
  ])('with %o is taken', async (changes) => {
    const answer = await openGateway().send({ path: 'payin', body: payinBody(changes) });
    expect(answer.body['responseDetails']).toEqual(pending);
  });

  it('refused, may be corrected under the same reference', async () => {
    const gateway = openGateway();
    for (const changes of [{ customerNumber: 'x' }, { transactionAmount: 0 }, { operatorCode: 'GMXYZ' }]) {
      await gateway.send({ path: 'payin', body: payinBody(changes) });
    }
    await gateway.send({ path: 'payin', body: payinBody(), module: 'wrong' });
    const answer = await gateway.send({ path: 'payin', body: payinBody() });
    expect(answer.body['responseDetails']).toEqual(pending);
  });

  it.each([
    ['half a body', '{"transactionReference":', 'the body must be well-formed JSON, each key once'],
    [
      'a key twice',
      '{"operatorCode":"GMQMO","operatorCode":"GMWAV"}',
      'the body must be well-formed JSON, each key once',
    ],
    ['deep nesting', '['.repeat(1_000), 'the body must be nested at most 32 levels deep'],
    ['a byte order mark', '\ufeff{}', 'the body must not begin with a byte order mark'],
    ['too much', '['.repeat(20_000), 'the body must have at most 16384 bytes'],
    ['a list', '[]', 'the body must be an object'],
    ['null', 'null', 'the body must be an object'],
  ])('of %s says what is wrong', async (_name, body, description) => {
    const answer = await openGateway().send({ path: 'payin', body });
    expect([answer.status, descriptionOf(answer)]).toEqual([400, description]);
  });

  it.each([
    [{ 'content-type': 'text/plain' }, 'Content-Type must be application/json'],
    [{ 'content-type': 'application/json, application/json' }, 'Content-Type must be application/json'],
    [{ 'content-type': 'application/json; charset=utf-16' }, 'Content-Type: charset must be utf-8'],
    [{ 'content-encoding': 'gzip' }, 'Content-Encoding must be left out: the body must not be compressed'],
  ])('with the headers %j says what is wrong', async (headers, description) => {
    const answer = await openGateway().send({ path: 'payin', body: payinBody(), headers });
    expect([answer.status, descriptionOf(answer)]).toEqual([400, description]);
  });

  it.each([
    'application/json; charset="utf-8"',
    'application/json;charset=UTF8; q="a;b"',
    'Application/JSON ; version=1',
  ])('with Content-Type %s is taken', async (type) => {
    const headers = { 'content-type': type, 'content-encoding': 'identity' };
    const answer = await openGateway().send({ path: 'payin', body: payinBody(), headers });
    expect(answer.body['responseDetails']).toEqual(pending);
  });

  it.each([
    [
      'form before security module',
      { customerNumber: 'x', transactionAmount: 0 },
      'wrong',
      'INVALID REQUEST',
    ],
    [
      'security module before mobile operator and amount',
      { operatorCode: 'NOSUCH', transactionAmount: 0 },
      'wrong',
      'INCORRECT SECURITY MODULE',
    ],
    ['security module before duplicate', {}, 'wrong', 'INCORRECT SECURITY MODULE'],
  ])('is judged by %s', async (_name, changes, module, reason) => {
    const gateway = openGateway();
    await gateway.send({ path: 'payin', body: payinBody() });
    const answer = await gateway.send({ path: 'payin', body: payinBody(changes), module });
    expect(answer.body['responseDetails']).toMatchObject(failed(reason));
  });

  it.each([
    ['100.50', '100.50', true],
    ['100.50', '100.5', true],
    ['1e2', '100', true],
    ['100.0', '100.0', true],
    ['100.0', '100', true],
    ['1E2', '100', true],
    ['1E2', '1e2', false],
    ['100', '100.0', false],
    ['100', '1e2', false],
    ['100', '0100', false],
    ['100', '+100', false],
    ['100', ' 100', false],
    ['100', '"100"', false],
    ['100', '', false],
    ['9007199254740993', '9007199254740992', false],
  ])('of %s with the security module of %s: %s', async (inBody, inModule, right) => {
    const gateway = openGateway();
    const text = JSON.stringify(payinBody()).replace(
      '"transactionAmount":100',
      `"transactionAmount":${inBody}`,
    );
    const answer = await gateway.send({ path: 'payin', body: text, module: `${inModule}order-12203001234` });
    expect(answer.status).toBe(200);
    expect(answer.body['responseDetails']).toEqual(right ? pending : failed('INCORRECT SECURITY MODULE'));
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['sent twice', 'twice'],
    ['of reference, amount, number', base64('order-11002203001234')],
    ['not encoded', '100order-12203001234'],
    ['of check-status', base64('order-1')],
  ])('with a security module %s is refused, and the reference stays free', async (_name, value) => {
    const gateway = openGateway();
    const right = base64('100order-12203001234');
    const headers = new Headers(rightHeaders(value === 'twice' ? right : (value ?? '')));
    if (value === undefined) headers.delete('x-module');
    if (value === 'twice') headers.append('x-module', right);
    const answer = await gateway.send({ path: 'payin', body: payinBody(), headers });
    expect(answer).toEqual({
      status: 200,
      body: {
        responseDetails: failed('INCORRECT SECURITY MODULE'),
        transactionReference: '',
        ...nothingFurther,
      },
    });
    expect(gateway.stored.size).toBe(0);
    const corrected = await gateway.send({ path: 'payin', body: payinBody() });
    expect(corrected.body['responseDetails']).toEqual(pending);
  });

  it('with the ambiguity of where the amount ends is right for both orders, and each is itself', async () => {
    const gateway = openGateway();
    const one = payinBody({ transactionAmount: 10, transactionReference: '1order' });
    const other = payinBody({ transactionAmount: 101, transactionReference: 'order' });
    const module = '101order2203001234';
    for (const body of [one, other]) {
      const answer = await gateway.send({ path: 'payin', body, module });
      expect(answer.body['responseDetails']).toEqual(pending);
    }
    expect([...gateway.stored.values()].map(({ order }) => order.amount.minor)).toEqual([1_000n, 10_100n]);
  });
});

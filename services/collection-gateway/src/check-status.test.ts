import { describe, expect, it } from 'vitest';
import { type Gateway, referenceOf } from './fixtures/answers.ts';
import { openGateway, payinBody } from './fixtures/gateway.ts';

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

  it("tells each state by the merchant's reference and by ours", async () => {
    const gateway = openGateway();
    const reference = referenceOf(await gateway.send({ path: 'payin', body: payinBody() }));
    expect(await check(gateway, 'order-1')).toEqual(says('09', 'PENDING'));
    await gateway.observe({ reference, status: 'completed' });
    expect(await check(gateway, 'order-1')).toEqual(says('00', 'COMPLETED'));
    expect(await check(gateway, reference)).toEqual(says('00', 'COMPLETED'));
    expect(await check(gateway, 'order-2')).toEqual(says('25', 'NOT FOUND'));
  });

  it('rejects everything else with four fields', async () => {
    const gateway = openGateway();
    const wrong = [
      await check(gateway, 'order 1'),
      await check(gateway, 'order-1', { transactionCountry: 'Gambia' }),
      await check(gateway, 'order-1', { requestHeader: { clientId: '', requestType: '' } }),
      await gateway.send({ path: 'check-status', body: '{' }),
      await gateway.send({ path: 'check-status', body: '{}', headers: { 'x-app': '' } }),
      await gateway.send({ path: 'check-status', body: '{}', headers: { 'x-business': 'x' } }),
      await gateway.send({
        path: 'check-status',
        body: {
          requestHeader: { requestType: 'x' },
          transactionReference: 'order-1',
          transactionCountry: 'GM',
        },
        module: 'order-2',
      }),
    ];
    for (const answer of wrong) {
      expect(answer).toEqual({
        status: 400,
        body: {
          timestamp: '2025-01-15T12:00:00.000Z',
          status: 400,
          error: 'Bad Request',
          path: '/collection/v1/check-status',
        },
      });
    }
  });
});

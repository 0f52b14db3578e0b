import { parseJson, payoutEnvelope, processorRecord } from '@pesewa/contracts';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { payoutHeaders, startSimulator } from './simulator.fixture.ts';

const listed = payoutEnvelope.extend({ responseData: z.array(processorRecord) });

it('lists working processors, one that is inactive and one that is blocked', async () => {
  await using simulator = await startSimulator();
  const answer = await simulator.request('/api/v1/banks?country=NGA', { headers: payoutHeaders });
  const { responseData } = listed.parse(parseJson(await answer.text()));
  const odd = responseData.filter(({ active, blockTransaction }) => !active || blockTransaction);
  expect(odd.map(({ code, active, blockTransaction }) => [code, active, blockTransaction])).toEqual([
    ['NGA-OFF', false, false],
    ['NGA-BLOCKED', true, true],
  ]);
  expect(responseData.length).toBeGreaterThan(5);
});

it.each([
  ['058', '0123456789', 200, undefined],
  ['058', '0123450001', 400, '25'],
  ['NGA-OFF', '0123456789', 422, '92'],
  ['NGA-BLOCKED', '0123456789', 422, '92'],
  ['nowhere', '0123456789', 422, '92'],
])('a name enquiry at %s for %s is answered %d', async (bankCode, accountNumber, status, code) => {
  await using simulator = await startSimulator();
  const answer = await simulator.request('/api/v1/transactions/name-enquiry', {
    method: 'POST',
    headers: { ...payoutHeaders, 'content-type': 'application/json' },
    body: JSON.stringify({ accountNumber, bankCode, currency: 'NGN', country: 'NGA' }),
  });
  expect(answer.status).toBe(status);
  expect(payoutEnvelope.parse(parseJson(await answer.text())).responseCode).toBe(code);
});

it('a name enquiry for 0007 is held, and then reset', async () => {
  await using simulator = await startSimulator({ ANSWER_HOLD_MS: '50' });
  const { status, headers } = await simulator.request('/api/v1/transactions/name-enquiry', {
    method: 'POST',
    headers: { ...payoutHeaders, 'content-type': 'application/json' },
    body: JSON.stringify({ accountNumber: '0123450007', bankCode: '058', currency: 'NGN', country: 'NGA' }),
  });
  expect([status, headers.get('x-hono-already-sent')]).toEqual([200, 'true']);
});

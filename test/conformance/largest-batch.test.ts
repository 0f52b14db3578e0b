import { afterAll, beforeAll, expect, it } from 'vitest';
import { api, bulkBody, expectFound, number, openApi } from './conformance.ts';

beforeAll(async () => {
  await openApi();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

it('contract 10.9: 10,000 items are accepted, the first and the last of them at once', async () => {
  const batch = api.scenario.reference('largest');
  const changes: Record<string, unknown> = { totalAmount: number('10000') };
  for (let index = 0; index < 10_000; index += 1) changes[`beneficiaries.${index}.amount`] = number('1');
  expect(await api.submitBulk(bulkBody(batch, 10_000, changes))).toMatchObject({ status: 200, code: '09' });
  for (const index of [0, 4_999, 9_999]) expectFound(await api.lookUp(`${batch}.${index}`));
});

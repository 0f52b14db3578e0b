import { accept, refuse } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { batchText } from './acceptance.fixture.ts';
import { ask, openTestApp } from './app.fixture.ts';
import type { Batches } from './batches.ts';

const PATH = '/api/v1/transactions/transfer/bulk';
const text = batchText('batch', [
  ['item-0', 1.5],
  ['item-1', 2.25],
]);
const post = (
  submit: Batches['submit'],
  body: unknown = text,
  headers: Readonly<Record<string, string>> = {},
) => ask(openTestApp({ batches: { submit } }), 'POST', PATH, { body, headers });
const untouched: Batches['submit'] = () => Promise.reject(new Error('must not be reached'));

describe('bulk payout (contract 4.2)', () => {
  it('answers 09 without data once the batch is stored', async () => {
    const submitted: unknown[] = [];
    const answer = await post(async (merchant, order) => {
      submitted.push(merchant.id, order.terms.merchantReference, order.items.length);
      return accept(null);
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      isSuccessful: true,
      responseCode: '09',
      responseMessage: 'Transactions submitted successfully',
    });
    expect(submitted).toEqual(['demo', 'batch', 2]);
  });

  it.each([
    ['an item', text.replace('"amount":2.25', '"amount":0'), 400, '13', /^beneficiaries\.1\.amount must be/],
    ['half a body', text.slice(0, -2), 400, '30', /^the body must be well-formed JSON/],
    ['too large a body', ' '.repeat(8 * 1_024 * 1_024 + 1), 400, '30', /at most 8388608 bytes/],
  ])('refuses %s before anything is stored', async (_what, body, status, code, message) => {
    const answer = await post(untouched, body);
    expect([answer.status, answer.body.responseCode]).toEqual([status, code]);
    expect(answer.body.responseMessage).toMatch(message);
  });

  it('refuses another content type', async () => {
    const answer = await post(untouched, text, { 'content-type': 'text/plain' });
    expect(answer.body.responseMessage).toBe('Content-Type must be application/json');
  });

  it('passes a refusal on', async () => {
    const message = 'beneficiaries.1.transactionReference was used before';
    const answer = await post(async () => refuse({ code: 'duplicate', message }));
    expect(answer).toMatchObject({ status: 409, body: { responseCode: '94', responseMessage: message } });
  });

  it('answers 91 when it does not know whether the batch is stored', async () => {
    const answer = await post(() => Promise.reject(new Error('no primary')));
    expect([answer.status, answer.body.responseCode]).toEqual([503, '91']);
  });

  it('takes sixteen batches at once and no more', async () => {
    const all = Promise.withResolvers<void>();
    let underWay = 0;
    const app = openTestApp({
      batches: {
        submit: async () => {
          underWay += 1;
          if (underWay === 16) all.resolve();
          await all.promise;
          return accept(null);
        },
      },
    });
    const sixteen = Array.from({ length: 17 }, () => ask(app, 'POST', PATH, { body: text }));
    const codes = (await Promise.all(sixteen)).map(({ body }) => body.responseCode);
    expect(codes.filter((code) => code === '09')).toHaveLength(16);
    expect(codes.filter((code) => code === '91')).toHaveLength(1);
  });
});

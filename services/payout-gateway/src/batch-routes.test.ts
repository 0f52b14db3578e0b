import type { Merchant } from '@pesewa/directory';
import { accept, refuse } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { batchText } from './acceptance.fixture.ts';
import { ask, holderOf, merchant, openTestApp } from './app.fixture.ts';
import type { Batches } from './batches.ts';

const PATH = '/api/v1/transactions/transfer/bulk';
const text = batchText('batch', [
  ['item-0', 1.5],
  ['item-1', 2.25],
]);
const post = (
  request: Batches['request'],
  body: unknown = text,
  headers: Readonly<Record<string, string>> = {},
) => ask(openTestApp({ batches: { request } }), 'POST', PATH, { body, headers });
const untouched: Batches['request'] = () => Promise.reject(new Error('must not be reached'));

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
    ['a byte order mark', `\ufeff${text}`, 400, '30', /^the body must not begin with a byte order mark$/],
    ['half a body', text.slice(0, -2), 400, '30', /^the body must be well-formed JSON/],
    ['too large a body', ' '.repeat(16 * 1_024 * 1_024 + 1), 400, '30', /at most 16777216 bytes/],
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

  it('takes ten thousand items of full length, written in three bytes a letter', async () => {
    const letters = '\u1230'.repeat(140);
    const digits = '0'.repeat(40);
    const items = Array.from({ length: 10_000 }, (_, index) => ({
      transactionReference: `${'r'.repeat(59)}${String(index).padStart(5, '0')}`,
      accountName: letters,
      accountNumber: digits,
      bankCode: 'GHMTN',
      amount: 1,
      narration: letters,
      saveBeneficiary: false,
      phoneNumber: '0'.repeat(20),
      accountType: digits,
      identificationType: digits,
      identificationNumber: digits,
      nationalIdNumber: digits,
    }));
    const body = JSON.stringify({ ...JSON.parse(text), totalAmount: 10_000, beneficiaries: items });
    const answer = await post(async (_merchant, order) => {
      expect(order.items).toHaveLength(10_000);
      return accept(null);
    }, body);
    expect(answer.body.responseMessage).toBe('Transactions submitted successfully');
  });
});

describe('many batches at once', () => {
  const merchants = Array.from({ length: 6 }, (_, index): Merchant => ({ ...merchant, id: `m-${index}` }));
  /** Every key is the id of its merchant; a batch stays in progress until the gate opens. */
  const openCrowd = () => {
    const gate = Promise.withResolvers<void>();
    const underWay: string[] = [];
    const app = openTestApp({
      identify: async (key) => {
        const found = merchants.find(({ id }) => id === key);
        return found && holderOf(found);
      },
      batches: {
        request: async ({ id }) => {
          underWay.push(id);
          await gate.promise;
          return accept(null);
        },
      },
    });
    const send = (id: string, body: string = text) =>
      ask(app, 'POST', PATH, { body, headers: { 'x-api-key': id } }).then(
        ({ body: { responseCode } }) => responseCode,
      );
    return { app, gate, underWay, send };
  };

  it('takes sixteen of all, and looks at the format first', async () => {
    const { gate, underWay, send } = openCrowd();
    const taken = merchants.slice(0, 4).flatMap(({ id }) => Array.from({ length: 4 }, () => send(id)));
    await expect.poll(() => underWay).toHaveLength(16);
    expect(await send('m-4', '{}')).toBe('30');
    expect(await send('m-4')).toBe('91');
    gate.resolve();
    expect(await Promise.all(taken)).toEqual(Array(16).fill('09'));
    expect(await send('m-4')).toBe('09');
  });

  it('takes four of one merchant, lets its others wait and turns away what never ends; another passes', async () => {
    const { gate, underWay, send } = openCrowd();
    const taken = Array.from({ length: 36 }, () => send('m-0'));
    await expect.poll(() => underWay).toHaveLength(4);
    expect(await send('m-0')).toBe('91');
    const other = send('m-1');
    await expect.poll(() => underWay).toEqual(['m-0', 'm-0', 'm-0', 'm-0', 'm-1']);
    gate.resolve();
    expect(await Promise.all([...taken, other])).toEqual(Array(37).fill('09'));
  });

  /** A batch whose body does not end. */
  const slowly = ({ app }: Pick<ReturnType<typeof openCrowd>, 'app'>, id: string) => {
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { 'x-api-key': id, 'content-type': 'application/json' };
    const init = { method: 'POST', body: body.readable, duplex: 'half', headers } as const;
    const request = new Request(`http://gateway.test${PATH}`, init);
    const status = Promise.resolve(app.request(request)).then((response) => response.status);
    return { status, end: () => body.writable.close() };
  };

  it('sixteen bodies of any length are read at once over all merchants, or more that are small', async () => {
    const crowd = openCrowd();
    crowd.gate.resolve();
    const slow = Array.from({ length: 15 }, (_, index) => slowly(crowd, `m-${index % 4}`));
    const headers = { 'x-api-key': 'm-4', 'content-length': String(text.length) };
    const small = () => ask(crowd.app, 'POST', PATH, { body: text, headers });
    expect(await small()).toMatchObject({ body: { responseCode: '09' } });
    slow.push(slowly(crowd, 'm-4'));
    expect(await slowly(crowd, 'm-5').status).toBe(503);
    expect(await small()).toMatchObject({ body: { responseCode: '91' } });
    await Promise.all(slow.map(({ end }) => end()));
    await Promise.all(slow.map(({ status }) => status));
    expect(await small()).toMatchObject({ body: { responseCode: '09' } });
  });

  it('slow bodies of one merchant keep no other waiting, and its own are read in turn', async () => {
    const { app, gate, send } = openCrowd();
    gate.resolve();
    const slow = Array.from({ length: 20 }, () => slowly({ app }, 'm-0'));
    expect(await send('m-1')).toBe('09');
    let own: string | undefined;
    const waiting = send('m-0').then((code) => {
      own = code;
    });
    expect(await send('m-1')).toBe('09');
    expect(own).toBeUndefined();
    await Promise.all(slow.map(({ end }) => end()));
    expect(await Promise.all(slow.map(({ status }) => status))).toEqual(Array(20).fill(400));
    await waiting;
    expect(own).toBe('09');
  });
});

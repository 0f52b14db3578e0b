import { numberText, parseJson } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { collections, expectPending } from '../collections.ts';
import { customerIn, listPath, next, payinBody } from './collection-requests.ts';

type Query = Readonly<Record<string, string>>;

const text = z.string().min(1);
const page = z.strictObject({
  collections: z.array(
    z.strictObject({
      transaction_reference: text,
      merchant_reference: text,
      status: z.enum(['PENDING', 'COMPLETED', 'FAILED']),
      transaction_amount: numberText,
      amount_received: numberText,
      transaction_fee: numberText,
      currency_code: text,
      channel: z.literal('MOBILE_MONEY'),
      operator_code: text,
      initiated_date: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      failure_reason: text.optional(),
    }),
  ),
  nextCursor: text.nullable(),
});

async function list(key: string, query: Query = {}) {
  const parameters = new URLSearchParams({ ...query });
  const path = `${listPath}?${parameters.toString()}`;
  const answer = await collections.call({ method: 'GET', path, key, module: null, type: null });
  expect(answer.status).toBe(200);
  return page.parse(parseJson(answer.text));
}

const namesOf = ({ collections: listed }: z.output<typeof page>) =>
  listed.map(({ merchant_reference }) => merchant_reference);

describe.concurrent('contract 10.19: the list of collections', () => {
  it('has every collection once, page by page, the newest first, whatever is accepted meanwhile', async () => {
    const key = await collections.addMerchant('collection-pages');
    const references = [next('page'), next('page'), next('page')];
    for (const reference of references) expectPending(await collections.payin(payinBody(reference), { key }));
    const first = await list(key, { limit: '2' });
    expectPending(await collections.payin(payinBody(next('meanwhile')), { key }));
    const second = await list(key, { limit: '2', cursor: first.nextCursor ?? '' });
    expect([...namesOf(first), ...namesOf(second)]).toEqual(references.toReversed());
    expect(second.nextCursor).toBeNull();
  });

  it('shows each as its webhook does, by status, and only the merchant’s own', async () => {
    const key = await collections.addMerchant('collection-states');
    const [paid, failed, open] = [next('paid'), next('failed'), next('open')];
    for (const [reference, digits] of [
      [paid, '9999'],
      [failed, '0001'],
      [open, '0017'],
    ] as const) {
      const body = payinBody(reference, { customerNumber: customerIn('GH', digits) }, 'GHATL');
      expectPending(await collections.payin(body, { key }));
    }
    const asked = { transaction_amount: '100', currency_code: 'GHS', operator_code: 'GHATL' };
    const nothing = { amount_received: '0', transaction_fee: '0' };
    await eventually(async () => {
      const of = async (status: string) => (await list(key, { status })).collections;
      const got = { amount_received: '100', transaction_fee: '1' };
      expect(await of('COMPLETED')).toMatchObject([{ ...asked, ...got, merchant_reference: paid }]);
      const why = { failure_reason: expect.any(String) as string };
      expect(await of('FAILED')).toMatchObject([
        { ...asked, ...nothing, ...why, merchant_reference: failed },
      ]);
      expect(await of('PENDING')).toMatchObject([{ ...asked, ...nothing, merchant_reference: open }]);
    });
    const stranger = await collections.addMerchant('collection-stranger');
    const [newest] = (await list(key)).collections;
    expect(namesOf(await list(stranger, { cursor: `co-${'f'.repeat(32)}` }))).toEqual([]);
    expect(namesOf(await list(stranger, { cursor: newest?.transaction_reference ?? '' }))).toEqual([]);
  });

  it('is of a time', async () => {
    const key = await collections.addMerchant('collection-times');
    const reference = next('time');
    expectPending(await collections.payin(payinBody(reference), { key }));
    const [first] = (await list(key)).collections;
    const second = `${first?.initiated_date.replace(' ', 'T') ?? ''}Z`;
    const after = new Date(Date.parse(second) + 1_000).toISOString();
    expect(namesOf(await list(key, { from: second, to: after }))).toEqual([reference]);
    expect(namesOf(await list(key, { to: second }))).toEqual([]);
    expect(namesOf(await list(key, { from: after }))).toEqual([]);
  });

  it.each(['status=REVERSED', 'from=now', 'to=now', 'cursor=x', 'limit=0', 'limit=201'])(
    '%s is refused in four fields, and named',
    async (query) => {
      const path = `${listPath}?${query}`;
      const answer = await collections.call({ method: 'GET', path, module: null, type: null });
      const [name] = query.split('=');
      expect([answer.status, parseJson(answer.text)]).toMatchObject([
        400,
        { error: expect.stringContaining(`Bad Request: ${name} must be `) as string, path: listPath },
      ]);
    },
  );

  it.each([{ key: null }, { app: null }, { app: 'web' }])('is not shown to %j', async (liberties) => {
    const answer = await collections.call({ method: 'GET', path: listPath, module: null, ...liberties });
    expect([answer.status, parseJson(answer.text)]).toMatchObject([400, { error: 'Bad Request' }]);
  });
});

import { numberText } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { api, bulkBody, expectAccepted, singleBody } from '../conformance.ts';
import { lookedUp } from '../shapes.ts';

const paths = { payouts: '/api/v1/transactions', batches: '/api/v1/batches' } as const;
type Query = Readonly<Record<string, string>>;

const text = z.string().min(1);
const payoutPage = z.strictObject({
  transactions: z.array(
    lookedUp.extend({ currency: text, batchReference: text.nullable(), acceptedAt: z.iso.datetime() }),
  ),
  nextCursor: text.nullable(),
});
const batchPage = z.strictObject({
  batches: z.array(
    z.strictObject({
      merchantReference: text,
      transactionReference: text,
      currency: text,
      totalAmount: numberText,
      itemCount: numberText,
      acceptedAt: z.iso.datetime(),
    }),
  ),
  nextCursor: text.nullable(),
});

async function list<Schema extends z.ZodType>(path: string, schema: Schema, key: string, query: Query = {}) {
  const parameters = new URLSearchParams({ ...query });
  const answer = await api.call({ path: `${path}?${parameters.toString()}`, key });
  expect(answer).toMatchObject({ status: 200, code: '00' });
  return schema.parse(answer.data);
}

async function payoutsOf(key: string, query: Query = {}): Promise<readonly string[]> {
  const { transactions } = await list(paths.payouts, payoutPage, key, query);
  return transactions.map(({ merchantReference }) => merchantReference);
}

describe('contract 10.19: the lists of payouts and batches', () => {
  it('have every payout once, page by page, the newest first, whatever is accepted meanwhile', async () => {
    const key = await api.addMerchant('lists-pages');
    const references = ['one', 'two', 'three', 'four', 'five'].map((name) => api.scenario.reference(name));
    for (const reference of references) expectAccepted(await api.submit(singleBody(reference), key));
    const found: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page: z.output<typeof payoutPage> = await list(paths.payouts, payoutPage, key, {
        limit: '2',
        ...(cursor !== undefined && { cursor }),
      });
      found.push(...page.transactions.map(({ merchantReference }) => merchantReference));
      cursor = page.nextCursor;
      expectAccepted(await api.submit(singleBody(api.scenario.reference(`meanwhile-${found.length}`)), key));
    }
    expect(found).toEqual(references.toReversed());
  });

  it('show only the merchant’s own, and nothing by the cursor or the batch of another', async () => {
    const key = await api.addMerchant('lists-own');
    const [reference, batch] = [api.scenario.reference('own'), api.scenario.reference('own-batch')];
    expectAccepted(await api.submit(singleBody(reference), key));
    await api.submitBulk(bulkBody(batch, 1), key);
    expect(await payoutsOf(key)).toEqual([`${batch}.0`, reference]);
    const { batches } = await list(paths.batches, batchPage, key);
    const ours = batches[0]?.transactionReference ?? '';
    const stranger = await api.addMerchant('lists-stranger', { funding: null });
    expect(await payoutsOf(stranger)).toEqual([]);
    expect(await payoutsOf(stranger, { cursor: `po-${'f'.repeat(32)}` })).toEqual([]);
    expect(await list(paths.batches, batchPage, stranger)).toEqual({ batches: [], nextCursor: null });
    for (const asked of [batch, ours, 'nobody-has-it'])
      expect(await api.call({ path: `${paths.payouts}?batch=${asked}`, key: stranger })).toMatchObject({
        status: 400,
        code: '25',
      });
  });

  it('are of a time, its first moment included and its last one not, and of a status', async () => {
    const key = await api.addMerchant('lists-filters');
    const [paid, failed] = [api.scenario.reference('paid'), api.scenario.reference('failed')];
    expectAccepted(await api.submit(singleBody(paid), key));
    expectAccepted(await api.submit(singleBody(failed, { 'beneficiary.accountNumber': '0123450001' }), key));
    await eventually(async () => {
      expect(await payoutsOf(key, { status: 'COMPLETED' })).toEqual([paid]);
      expect(await payoutsOf(key, { status: 'FAILED' })).toEqual([failed]);
    });
    const { transactions } = await list(paths.payouts, payoutPage, key);
    const at = transactions.find(({ merchantReference }) => merchantReference === failed)?.acceptedAt ?? '';
    expect(await payoutsOf(key, { from: at })).toEqual([failed]);
    expect(await payoutsOf(key, { to: at })).toEqual([paid]);
  });

  it('show a batch as a whole, and its items alone', async () => {
    const key = await api.addMerchant('lists-batches');
    const batch = api.scenario.reference('whole');
    await api.submitBulk(bulkBody(batch, 3), key);
    expectAccepted(await api.submit(singleBody(api.scenario.reference('beside')), key));
    const { batches } = await list(paths.batches, batchPage, key);
    expect(batches).toMatchObject([{ merchantReference: batch, totalAmount: '300', itemCount: '3' }]);
    for (const asked of [batch, batches[0]?.transactionReference ?? '']) {
      const items = await payoutsOf(key, { batch: asked });
      expect(items.toSorted()).toEqual([0, 1, 2].map((item) => `${batch}.${item}`));
    }
  });

  it.each([
    [paths.payouts, 'status=PENDING', /^status /],
    [paths.payouts, 'from=yesterday', /^from /],
    [paths.payouts, 'to=2026-11-01', /^to /],
    [paths.payouts, 'cursor=x', /^cursor /],
    [paths.payouts, `cursor=ba-${'0'.repeat(32)}`, /^cursor /],
    [paths.payouts, 'limit=0', /^limit /],
    [paths.payouts, 'limit=201', /^limit /],
    [paths.payouts, 'batch=%24ne', /^batch /],
    [paths.payouts, 'status[$ne]=FAILED', /^the parameters of this list are /],
    [paths.payouts, 'from=&limit=1&limit=2', /^limit must be given once/],
    [paths.batches, 'status=FAILED', /^the parameters of this list are /],
    [paths.batches, `cursor=po-${'0'.repeat(32)}`, /^cursor /],
  ])('30: %s?%s is refused, and named', async (path, query, message) => {
    const answer = await api.call({ path: `${path}?${query}` });
    expect(answer).toMatchObject({ status: 400, code: '30', data: undefined });
    expect(answer.message).toMatch(message);
  });
});

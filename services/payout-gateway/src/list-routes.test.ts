import { formatAmount } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { ask, merchant, openTestApp, payout } from './app.fixture.ts';
import type { ListDeps } from './list-routes.ts';
import type { Reservation } from './store.ts';

const idOf = (prefix: string, number: number) => `${prefix}-${number.toString(16).padStart(32, '0')}`;
const payouts = [3, 2, 1].map((number) => ({ ...payout, reference: idOf('po', number) }));
const batch: Reservation = {
  merchantId: 'demo',
  merchantReference: 'july',
  batchReference: idOf('ba', 7),
  contentHash: 'h',
  acceptedAtMs: Date.UTC(2026, 10, 1),
  total: { minor: 400_050n, currency: 'NGN' },
  itemCount: 2,
  firstItem: idOf('po', 1),
  lastItem: idOf('po', 2),
};

function open(store: Partial<ListDeps['store']> = {}) {
  const asked: unknown[] = [];
  const app = openTestApp({
    lists: {
      store: {
        list: async (query) => {
          asked.push(query);
          return payouts.slice(0, query.limit);
        },
        listBatches: async (query) => {
          asked.push(query);
          return [batch];
        },
        findBatch: async (_merchantId, reference) => (reference === 'july' ? batch : undefined),
        ...store,
      },
    },
  });
  return { app, asked };
}

describe('the list of payouts', () => {
  const path = '/api/v1/transactions';

  it('shows each as a lookup does, with its time, currency and batch (contract 10.19)', async () => {
    const { app, asked } = open();
    const { status, body } = await ask(app, 'GET', path);
    expect([status, body.responseCode]).toEqual([200, '00']);
    expect(body.responseData).toMatchObject({
      nextCursor: null,
      transactions: payouts.map(({ reference }) => ({
        transactionStatus: 'INITIALIZED',
        merchantReference: 'order-1',
        transactionReference: reference,
        amount: formatAmount(2_050n, 'KES'),
        feeAmount: '0.21',
        valueAmount: '20.71',
        statusReason: '',
        currency: 'KES',
        batchReference: null,
        acceptedAt: '1970-01-01T00:00:00.000Z',
      })),
    });
    expect(asked).toEqual([{ merchantId: merchant.id, limit: 51 }]);
  });

  it('asks the store for its own merchant, the status, the times and the page (contract 10.19)', async () => {
    const { app, asked } = open();
    const query = `status=FAILED&from=2026-11-01T00:00:00Z&to=2026-11-02T01:00:00.5%2B01:00&cursor=${idOf('po', 9)}&limit=1`;
    const { body } = await ask(app, 'GET', `${path}?${query}`);
    expect(asked).toEqual([
      {
        merchantId: 'demo',
        status: 'FAILED',
        fromMs: Date.UTC(2026, 10, 1),
        toMs: Date.UTC(2026, 10, 2, 0, 0, 0, 500),
        before: idOf('po', 9),
        limit: 2,
      },
    ]);
    expect(body.responseData).toMatchObject({
      transactions: [{ transactionReference: idOf('po', 3) }],
      nextCursor: idOf('po', 3),
    });
  });

  it('has no further page where it ends with this one', async () => {
    const { body } = await ask(open().app, 'GET', `${path}?limit=3`);
    expect(body.responseData).toMatchObject({ nextCursor: null });
  });

  it('shows the items of a batch, by the ends of their references', async () => {
    const { app, asked } = open();
    await ask(app, 'GET', `${path}?batch=july`);
    expect(asked).toMatchObject([{ merchantId: 'demo', batch: { batchReference: batch.batchReference } }]);
    const none = await ask(app, 'GET', `${path}?batch=june`);
    expect([none.status, none.body.responseCode]).toEqual([400, '25']);
    expect(none.body.responseMessage).toMatch(/^batch/);
  });

  it.each([
    ['status=PENDING', /^status must be one of INITIALIZED, COMPLETED, FAILED, REVERSED$/],
    ['from=yesterday', /^from must be a time such as/],
    ['to=2026-11-01', /^to must be a time such as/],
    [`cursor=${idOf('ba', 1)}`, /^cursor must be a nextCursor/],
    ['cursor=po-1', /^cursor must be a nextCursor/],
    ['limit=0', /^limit must be a whole number from 1 to 200$/],
    ['limit=201', /^limit must be a whole number from 1 to 200$/],
    ['batch=%24ne', /^batch must start with/],
    ['status[$ne]=FAILED', /^the parameters of this list are status, batch, from/],
    ['stauts=FAILED', /^the parameters of this list are status, batch, from/],
    ['status=FAILED&status=COMPLETED', /^status must be given once$/],
  ])('30: ?%s says what is wrong (contract 10.19)', async (query, message) => {
    const { app, asked } = open();
    const { status, body } = await ask(app, 'GET', `${path}?${query}`);
    expect([status, body.responseCode]).toEqual([400, '30']);
    expect(body.responseMessage).toMatch(message);
    expect(asked).toEqual([]);
  });

  it('takes an empty parameter as an absent one', async () => {
    const { app, asked } = open();
    await ask(app, 'GET', `${path}?status=&from=&cursor=`);
    expect(asked).toEqual([{ merchantId: 'demo', limit: 51 }]);
  });

  it('says how to ask for less where too much would have to be read', async () => {
    const { app } = open({ list: async () => undefined });
    const { status, body } = await ask(app, 'GET', path);
    expect([status, body.responseCode]).toEqual([400, '30']);
    expect(body.responseMessage).toMatch(/^from and to /);
  });

  it('answers 91 where the database does not answer', async () => {
    const { app } = open({ list: async () => Promise.reject(new Error('no primary')) });
    const { status, body } = await ask(app, 'GET', path);
    expect([status, body.responseCode]).toEqual([503, '91']);
  });

  it('reads two pages of a merchant at once, lets eight wait, and answers the rest by 91', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    let reading = 0;
    const { app } = open({
      list: async () => {
        reading += 1;
        await answered;
        return [];
      },
    });
    const all = Array.from({ length: 12 }, () => ask(app, 'GET', path));
    const refused = await Promise.race(all);
    expect([refused.status, refused.body.responseCode, reading]).toEqual([503, '91', 2]);
    answer();
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });
});

describe('the list of batches', () => {
  const path = '/api/v1/batches';

  it('shows what each has in all (contract 10.19)', async () => {
    const { app, asked } = open();
    const { body } = await ask(app, 'GET', `${path}?cursor=${idOf('ba', 9)}`);
    expect(body.responseData).toMatchObject({
      batches: [
        {
          merchantReference: 'july',
          transactionReference: idOf('ba', 7),
          currency: 'NGN',
          totalAmount: '4000.5',
          itemCount: '2',
          acceptedAt: '2026-11-01T00:00:00.000Z',
        },
      ],
      nextCursor: null,
    });
    expect(asked).toEqual([{ merchantId: 'demo', before: idOf('ba', 9), limit: 51 }]);
  });

  it('shows one of them by its reference, and 25 for one that there is not', async () => {
    const { app, asked } = open();
    const { body } = await ask(app, 'GET', `${path}?batch=july`);
    expect(body.responseData).toMatchObject({ batches: [{ merchantReference: 'july' }], nextCursor: null });
    expect(asked).toEqual([{ merchantId: 'demo', ids: ['demo:july'], limit: 51 }]);
    const none = await ask(app, 'GET', `${path}?batch=june`);
    expect([none.status, none.body.responseCode]).toEqual([400, '25']);
  });

  it('has no status, and says where to look', async () => {
    const { body } = await ask(open().app, 'GET', `${path}?status=FAILED`);
    expect(body.responseMessage).toMatch(/a batch has no status, but its items have$/);
  });
});

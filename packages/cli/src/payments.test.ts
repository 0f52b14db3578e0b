import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const payout = {
  reference: 'po-1',
  merchantId: 'demo',
  merchantReference: 'order-1',
  rail: 'upstream',
  currency: 'KES',
  amount: '1200.5',
  fee: '12',
  status: 'FAILED',
  step: 'ended',
  reason: 'Waiting: the route is delayed',
  acceptedAt: '2026-01-02T03:04:05.000Z',
};
const page = (items: readonly object[], next: string | null = null) => ({
  status: 200,
  body: { items, next },
});

it('lists payments of one gateway, by merchant, status and time', async () => {
  const line = commandLine([page([payout])]);
  const narrowed = ['--merchant', 'demo', '--status', 'FAILED', '--from', '2026-01-02', '--to', '2026-01-03'];
  expect(await line.run('payments', 'list', 'payouts', ...narrowed)).toBe(0);
  const [asked = ''] = line.requests as readonly string[];
  expect(Object.fromEntries(new URL(asked).searchParams)).toEqual({
    merchant: 'demo',
    status: 'FAILED',
    from: '2026-01-02T00:00:00.000Z',
    to: '2026-01-03T00:00:00.000Z',
    limit: '50',
  });
  expect(asked).toMatch(/^http:\/\/payouts\/payments\/list\?/);
  for (const shown of ['po-1', 'order-1', '1,200.50 KES', 'FAILED', 'the route is delayed'])
    expect(line.printed()).toContain(shown);
});

it.each(['payouts', 'collections'])('lists %s at a rail that have not ended', async (what) => {
  const line = commandLine([page([{ ...payout, step: 'awaitingOtp' }])]);
  expect(await line.run('payments', 'list', what, '--open', '--rail', 'upstream')).toBe(0);
  expect(line.requests).toEqual([`http://${what}/payments/list?rail=upstream&open=true&limit=50`]);
  expect(line.printed()).toContain('awaiting OTP');
});

it('lists those with a reference of a merchant that need not be named', async () => {
  const line = commandLine([page([payout])]);
  expect(await line.run('payments', 'list', 'payouts', '--reference', 'order-1')).toBe(0);
  expect(line.requests).toEqual(['http://payouts/payments/list?merchantReference=order-1&limit=50']);
});

it.each([
  [['payments', 'list', 'payouts', '--open', '--status', 'FAILED'], 'either open or status, and not both'],
  [['payments', 'list', 'payouts', '--merchant', ''], '--merchant: must not be empty'],
  [['payments', 'list', 'payouts', '--rail', 'r'.repeat(41)], '--rail: must have at most 40 characters'],
  [['webhooks', 'list', '--endpoint', 'payouts'], 'name the merchant as well'],
])('refuses what the list does not take, before it asks: %j', async (words, why) => {
  const line = commandLine([page([])]);
  expect(await line.run(...words)).toBe(1);
  expect(line.complained()).toContain(why);
  expect(line.requests).toEqual([]);
});

it('says that there are more', async () => {
  const line = commandLine([page([payout, { ...payout, reference: 'po-0' }], 'po-0')]);
  expect(await line.run('payments', 'list', 'collections', '--limit', '1')).toBe(0);
  expect(line.requests).toEqual(['http://collections/payments/list?limit=1']);
  expect(line.printed()).toContain('there are more: raise --limit, or narrow --from and --to');
});

const cancelled = {
  ...payout,
  kind: 'payout',
  railFee: '0',
  amountReceived: null,
  version: 3,
  reason: 'Cancelled before it was sent',
  attempts: 0,
  attemptedAt: null,
  earlierUnclear: false,
  dueAt: null,
  steps: [],
  batchReference: null,
};
const waiting = { ...cancelled, status: 'INITIALIZED', step: 'awaitingHold', reason: null };
const url = 'http://payouts/payments/cancel';
const answer = (body: object, status = 200) => ({ status, body });

it.each([
  [answer(cancelled), 'is cancelled'],
  [answer(waiting, 202), 'will not be sent: it ends as soon as the ledger has answered for its hold'],
])('cancels a payout by the reference of its merchant: %j', async (given, said) => {
  const line = commandLine([given]);
  expect(await line.run('payments', 'cancel', 'order-1', '--merchant', 'demo')).toBe(0);
  expect(line.requests).toMatchObject([{ url, body: { reference: 'order-1', merchant: 'demo' } }]);
  expect(line.printed()).toBe(`po-1 (order-1 of demo, 1,200.50 KES) ${said}\n`);
});

it('says what would be cancelled, and cancels nothing', async () => {
  const line = commandLine([answer(waiting)]);
  expect(await line.run('payments', 'cancel', 'po-1', '--dry-run')).toBe(0);
  expect(line.requests).toMatchObject([{ url, body: { reference: 'po-1', dryRun: true } }]);
  expect(line.printed()).toContain('would be cancelled');
});

it('cancels all of a merchant that can be, and says which stay', async () => {
  const listed = page([{ ...payout, reference: 'po-2' }, payout]);
  const sent = answer({ code: 'maybe_sent', message: 'this payout was sent' }, 409);
  const line = commandLine([listed, sent, answer(cancelled)]);
  expect(await line.run('payments', 'cancel', '--all', '--merchant', 'demo')).toBe(0);
  expect(line.requests).toMatchObject([
    'http://payouts/payments/list?merchant=demo&status=INITIALIZED',
    { url, body: { reference: 'po-2' } },
    { url, body: { reference: 'po-1' } },
  ]);
  expect(line.printed()).toMatch(
    /^po-2 stays: .*this payout was sent.*\npo-1 .* is cancelled\n1 cancelled, 1 stay\n$/,
  );
});

it.each([[[]], [['--all']], [['po-1', '--all', '--merchant', 'demo']]])(
  'cancels nothing where it is not clear what: %j',
  async (given) => {
    const line = commandLine([]);
    expect(await line.run('payments', 'cancel', ...given)).toBe(1);
    expect(line.requests).toEqual([]);
  },
);

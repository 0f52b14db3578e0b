import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const callback = {
  id: 'cb-1',
  rail: 'upstream',
  kind: 'collection',
  state: 'passed_on',
  reference: 'co-1',
  claimedStatus: 'COMPLETED',
  claimedAmount: '20.50',
  claimedCurrency: 'XOF',
  failure: null,
  deliveries: 3,
  timesPassedOn: 1,
  conflicts: 0,
  digest: 'd0',
  messageId: null,
  claimedFee: null,
  otherDigests: [],
  passedOnDigest: 'd0',
  lastReceivedAt: '2026-01-02T03:04:05.000Z',
  passedOnAt: '2026-01-02T03:04:05.000Z',
  forgetAt: '2026-02-02T03:04:05.000Z',
  verdict: { address: 'any', signature: 'verified', proven: true },
  receivedAt: '2026-01-02T03:04:05.000Z',
};
const rejected = {
  id: 'cb-2',
  rail: 'upstream',
  kind: 'payout',
  reason: 'address.unlisted',
  digest: 'd1',
  verdict: { address: 'unlisted', signature: 'missing', proven: false },
  bodyBytes: 90,
  peerAddress: '10.0.0.1',
  clientAddress: '198.51.100.9',
  forwardedFor: '198.51.100.9, 10.0.0.7',
  receivedAt: '2026-01-02T03:04:05.000Z',
};
const page = (items: readonly object[], next: string | null = null) => ({
  status: 200,
  body: { items, next },
});

it('shows the callbacks of a payment, page by page', async () => {
  const line = commandLine([page([callback], 'cb-1'), page([{ ...callback, id: 'cb-9' }])]);
  expect(await line.run('callbacks', 'co-1')).toBe(0);
  expect(line.requests).toEqual([
    'http://ingress/callbacks?reference=co-1',
    'http://ingress/callbacks?reference=co-1&after=cb-1',
  ]);
  for (const shown of ['cb-1', 'cb-9', '20.50 XOF', 'proven', 'passed on'])
    expect(line.printed()).toContain(shown);
});

it('shows those that could not be read', async () => {
  const failed = { ...callback, state: 'failed', reference: null, claimedStatus: null, failure: 'it broke' };
  const line = commandLine([page([failed])]);
  expect(await line.run('callbacks', 'failed')).toBe(0);
  expect(line.requests).toEqual(['http://ingress/callbacks?state=failed']);
  expect(line.printed()).toContain('it broke');
});

it('shows what was refused, and who sent it', async () => {
  const line = commandLine([page([rejected])]);
  expect(await line.run('callbacks', 'rejected', '--rail', 'upstream', '--reason', 'address.unlisted')).toBe(
    0,
  );
  expect(line.requests).toEqual(['http://ingress/callbacks/rejected?rail=upstream&reason=address.unlisted']);
  for (const shown of ['198.51.100.9, 10.0.0.7', '10.0.0.1', 'address: unlisted'])
    expect(line.printed()).toContain(shown);
});

it.each([
  ['redrive', 202, 'passed_on'],
  ['dismiss', 200, 'dismissed'],
])('%s orders it by id', async (what, status, state) => {
  const line = commandLine([{ status, body: { id: 'cb-1', state } }]);
  expect(await line.run('callbacks', what, 'cb-1')).toBe(0);
  expect(line.requests).toMatchObject([{ url: `http://ingress/callbacks/cb-1/${what}`, body: {} }]);
  expect(line.printed()).toBe(`${state.replace('_', ' ')} cb-1\n`);
});

it('says why an order is refused', async () => {
  const body = { code: 'rail_unknown', message: 'its rail is not in RAILS' };
  const line = commandLine([{ status: 409, body }]);
  expect(await line.run('callbacks', 'redrive', 'cb-1')).toBe(1);
  expect(line.complained()).toContain('its rail is not in RAILS');
});

import { ENDPOINTS_MAX } from '@pesewa/contracts';
import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const failing = {
  merchantId: 'demo',
  endpoint: 'payouts',
  state: 'failing',
  pending: 12,
  failing: 3,
  oldestCreatedAt: '2026-01-02T03:04:05.000Z',
  nextAt: '2026-01-02T04:04:05.000Z',
  lastStatus: 503,
  lastError: null,
};
const waiting = {
  ...failing,
  merchantId: 'shop',
  endpoint: 'https://shop.example',
  state: 'waiting',
  pending: 1,
  failing: 0,
  lastStatus: null,
};
const endpoints = (items: readonly object[]) => [{ status: 200, body: { items, next: null } }];

it('shows the endpoints that are owed webhooks', async () => {
  const line = commandLine(endpoints([failing, waiting]));
  expect(await line.run('webhooks', 'endpoints')).toBe(0);
  expect(line.requests).toEqual(['http://webhooks/endpoints']);
  const [from, next] = [failing.oldestCreatedAt, failing.nextAt];
  expect(line.printed()).toBe(
    [
      'MERCHANT  ENDPOINT              STATE    OWED  FAILING  OLDEST                    NEXT ATTEMPT              LAST ANSWER',
      `demo      payouts               failing    12        3  ${from}  ${next}  503`,
      `shop      https://shop.example  waiting     1        0  ${from}  ${next}  -`,
      '',
    ].join('\n'),
  );
});

it('says that none are owed, and why an endpoint did not answer', async () => {
  const none = commandLine(endpoints([]));
  await none.run('webhooks', 'endpoints');
  expect(none.printed()).toBe('no webhooks are owed\n');
  const unreachable = commandLine(endpoints([{ ...failing, lastStatus: null, lastError: 'tls' }]));
  await unreachable.run('webhooks', 'endpoints');
  expect(unreachable.printed()).toMatch(/ {2}tls\n$/);
});

it('says that there may be more than the service shows; JSON is what it shows alone', async () => {
  const all = endpoints(Array.from({ length: ENDPOINTS_MAX }, () => failing));
  const table = commandLine(all);
  await table.run('webhooks', 'endpoints');
  expect(table.printed()).toMatch(/\nthese are the first 100: there may be more\n$/);
  const json = commandLine(all);
  await json.run('webhooks', 'endpoints', '--json');
  expect(JSON.parse(json.printed())).toHaveLength(ENDPOINTS_MAX);
});

const delivery = {
  id: 'po-1-completed',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'order-1',
  kind: 'payout-completed',
  state: 'exhausted',
  attempts: 12,
  createdAt: '2026-01-02T03:04:05.000Z',
  dueAt: null,
  lastStatus: 503,
  lastError: null,
  reason: 'every attempt failed',
};
const page = (items: readonly object[], next: string | null = null) => ({
  status: 200,
  body: { items, next },
});

it.each<[readonly string[], string]>([
  [[], 'state=exhausted'],
  [['po-1'], 'reference=po-1'],
  [['order-1', '--state', 'discarded'], 'reference=order-1&state=discarded'],
])('lists webhooks with the reference of the merchant beside ours: %j', async (options, query) => {
  const line = commandLine([page([delivery])]);
  expect(await line.run('webhooks', 'deliveries', ...options)).toBe(0);
  expect(line.requests).toEqual([`http://webhooks/deliveries?${query}`]);
  expect(line.printed()).toMatch(
    /^po-1-completed +exhausted +demo +po-1 +order-1 +payout completed +12 +- +every attempt failed, 503$/m,
  );
});

it('says that there are no such webhooks, or more than are shown; JSON keeps the codes', async () => {
  const none = commandLine([page([])]);
  await none.run('webhooks', 'deliveries');
  expect(none.printed()).toBe('no such webhooks\n');
  const cut = commandLine([page([delivery], delivery.id)]);
  await cut.run('webhooks', 'deliveries', '--limit', '1');
  expect(cut.printed()).toMatch(/\nthere are more: raise --limit\n$/);
  const json = commandLine([page([delivery])]);
  await json.run('webhooks', 'deliveries', '--json');
  expect(JSON.parse(json.printed())).toEqual([delivery]);
});

it('sends a webhook again', async () => {
  const line = commandLine([{ status: 202, body: { id: delivery.id, state: 'pending' } }]);
  expect(await line.run('webhooks', 'resend', delivery.id)).toBe(0);
  const url = `http://webhooks/deliveries/${delivery.id}`;
  expect(line.requests).toEqual([{ url: `${url}/resend`, token: 'operator-token-of-tests', body: {} }]);
  expect(line.printed()).toBe('po-1-completed is due now\n');
});

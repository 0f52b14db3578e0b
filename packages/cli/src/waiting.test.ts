import { consumerGroups } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';
import { priceChange } from './settings.fixture.ts';

const ok = (body: object) => ({ status: 200, body });
const page = (items: readonly object[]) => ok({ items, next: null });
const well = {
  at: '2026-01-02T04:00:00.000Z',
  open: [{ kind: 'payout', count: 0, oldest: null, states: [], overdue: { count: 0, oldest: [] } }],
  silent: [],
  polls: [],
  breaks: [],
  breakSums: [],
  comparison: {
    at: '2026-01-02T03:45:00.000Z',
    wallets: 1,
    outOfRange: [],
    unexplained: [],
    overdue: [],
    removed: [],
  },
  coverage: { at: null, status: 'running', found: 0 },
  close: { to: null, finishedAt: null, counts: null, late: 0 },
  uncompared: [],
  caughtUp: true,
  unreported: [],
};
const requestedAt = '2026-01-02T03:00:00.000Z';
const order = {
  commandId: 'cm-1',
  kind: 'fund',
  merchantId: 'demo',
  currency: 'GHS',
  amount: '1',
  status: 'proposed',
  requestedBy: 'ama',
  requestedAt,
};
const webhook = {
  id: 'wh-1',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'order-1',
  kind: 'payout-completed',
  state: 'exhausted',
  attempts: 9,
  createdAt: requestedAt,
  dueAt: null,
  lastStatus: 500,
  lastError: null,
  reason: null,
};
const books = [
  { currency: 'GHS', account: 'float:upstream:GHS', debit: '100', credit: '0' },
  { currency: 'GHS', account: 'wallets:held:GHS', debit: '0', credit: '100.01' },
  { currency: 'GHS', account: 'suspense:GHS', debit: '0', credit: '40' },
  { currency: 'KES', account: 'float:upstream:KES', debit: '100', credit: '0' },
  { currency: 'KES', account: 'wallets:held:KES', debit: '0', credit: '100' },
  { currency: 'KES', account: 'suspense:KES', debit: '0', credit: '0' },
  { currency: 'XOF', account: 'float:upstream:XOF', debit: '0', credit: '5' },
  { currency: 'XOF', account: 'suspense:XOF', debit: '7', credit: '0' },
];

/** What is printed below the tables, of a reconciler with this status and services with these lists. */
async function printed(status: object, lists: Readonly<Record<string, readonly object[] | null>> = {}) {
  const line = commandLine((url) => {
    const { pathname } = new URL(url);
    if (pathname === '/status') return ok(status);
    const items = lists[pathname];
    return items === null ? { status: 503, body: {} } : page(items ?? []);
  });
  expect(await line.run('reconcile', 'status')).toBe(0);
  return line.printed().split('parked     messages that wait: none\n')[1];
}

describe('the status of reconciliation', () => {
  it('says that nothing waits for people only where that is known', async () => {
    expect(await printed(well)).toBe('in all     nothing waits for people\n');
    expect(await printed(well, { '/commands': null })).toBe(
      'no answer  from ledger: what waits there is not known\nin all     look at what was not answered\n',
    );
  });

  it.each([
    ['wallets that were never compared', { comparison: { ...well.comparison, at: null } }],
    [
      'removed rails',
      { polls: [{ rail: 'gone', configured: false, due: 1, overdue: 0, oldestDueAt: well.at }] },
    ],
    ['the audit of coverage', { coverage: { ...well.coverage, found: 1 } }],
    ['unclear payments of the last close', { close: { ...well.close, counts: { matched: 1, unclear: 2 } } }],
    ['events that are not applied', { caughtUp: false }],
  ])('names %s', async (what, change) => {
    expect(await printed({ ...well, ...change })).toBe(`in all     look at ${what}\n`);
  });

  it('does not say so where a service did not tell its parked messages', async () => {
    const line = commandLine((url) => {
      const { host, pathname } = new URL(url);
      if (pathname === '/parked' && host === 'ledger') return { status: 503, body: {} };
      return pathname === '/status' ? ok(well) : page([]);
    });
    await line.run('reconcile', 'status');
    expect(line.printed()).toMatch(/no answer from ledger\nin all     look at what was not answered\n$/);
  });

  it('names rails without an answer, and payments that are open for too long', async () => {
    const late = { state: 'begun', reference: 'po-1', openedAt: '2026-01-02T01:00:00.000Z' };
    const open = [{ ...well.open[0], count: 22, overdue: { count: 22, oldest: [late] } }];
    const silent = [{ rail: 'upstream', since: '2026-01-02T03:40:00.000Z', why: 'timeout' }];
    expect(await printed({ ...well, open, silent })).toBe(
      [
        'overdue    payouts that are open for more than an hour: 22',
        '           po-1 (begun) for 3 h',
        '           21 more: see pesewa payments list payouts --open',
        'rail       upstream gives no answer for 20 min, since 2026-01-02T03:40:00.000Z: timeout',
        'in all     look at rails without an answer, overdue payments',
        '',
      ].join('\n'),
    );
  });

  it('names orders, webhooks, suspense and floats that wait for people', async () => {
    const lists = {
      '/commands': [order, order],
      '/changes': [priceChange],
      '/deliveries': [webhook],
      '/trial-balance': books,
    };
    expect(await printed(well, lists)).toBe(
      [
        'orders     2 wait for another approver: see pesewa orders list --status proposed',
        'settings   1 wait for another approver: see pesewa settings list --status proposed',
        'webhooks   1 were given up: see pesewa webhooks list',
        'suspense   40.00 GHS is not explained: see pesewa statement suspense:GHS',
        'suspense   -7 XOF is not explained: see pesewa statement suspense:XOF',
        'float      GHS float at upstream runs low: 100.00 GHS, and open payouts hold 100.01 GHS',
        'float      XOF float at upstream runs low: -5 XOF, and open payouts hold 0 XOF',
        'in all     look at proposals, webhooks given up, suspense, floats',
        '',
      ].join('\n'),
    );
  });

  it('is JSON with the services that have parked messages and what waits for people', async () => {
    const line = commandLine((url) => (new URL(url).pathname === '/status' ? ok(well) : page([])));
    expect(await line.run('reconcile', 'status', '--json')).toBe(0);
    const none = { count: 0, isCut: false };
    const empty = { suspense: [], lowFloats: [], unreported: [] };
    expect(JSON.parse(line.printed())).toEqual({
      ...well,
      parked: {
        waiting: Object.fromEntries(consumerGroups.map((service) => [service, 0])),
        unreported: [],
      },
      waiting: { orders: none, decisions: none, settings: none, givenUpWebhooks: none, ...empty },
    });
  });
});

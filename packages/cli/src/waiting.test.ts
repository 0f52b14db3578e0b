import { consumerGroups } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { well as health } from './health.fixture.ts';
import { commandLine } from './program.fixture.ts';

const ok = (body: object) => ({ status: 200, body });
const well = {
  at: '2026-01-02T04:00:00.000Z',
  open: [{ kind: 'payout', count: 0, states: [], overdue: { count: 0, oldest: [] } }],
  silent: [],
  polls: [],
  breaks: [],
  breakSums: [],
  comparison: {
    at: '2026-01-02T03:45:00.000Z',
    wallets: 1,
    outOfRange: [],
    unexplained: [],
    removed: [],
  },
  coverage: { at: null, status: 'running', found: 0 },
  close: { to: null, finishedAt: null, counts: null, late: 0 },
  uncompared: [],
  unreported: [],
};
/** A command line over a reconciler with this status and services with this health; null means no answer. */
const over = (status: object, change: Readonly<Record<string, object | null>> = {}) =>
  commandLine((url) => {
    const { host, pathname } = new URL(url);
    if (pathname === '/status') return ok(status);
    const changed = change[host];
    return changed === null ? { status: 503, body: {} } : ok({ ...health, ...changed });
  });

/** What is printed below the tables. */
async function printed(...given: Parameters<typeof over>) {
  const line = over(...given);
  expect(await line.run('reconcile', 'status')).toBe(0);
  return line.printed().split(/parked {5}messages that wait: none.*\n/)[1];
}

describe('the status of reconciliation', () => {
  it('says that nothing waits for people only where that is known', async () => {
    expect(await printed(well)).toBe('in all     nothing waits for people\n');
    expect(await printed(well, { ledger: null })).toBe(
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
  ])('names %s', async (what, change) => {
    expect(await printed({ ...well, ...change })).toBe(`in all     look at ${what}\n`);
  });

  it('names events that are not applied', async () => {
    const said = await printed(well, { reconciler: { keepsUp: false } });
    expect(said).toBe('in all     look at events that are not applied\n');
  });

  it('does not say so where a service did not tell its parked messages', async () => {
    const line = over(well, { ledger: { parked: null } });
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
    const sum = (account: string, balance: string) => ({ account, currency: account.slice(-3), balance });
    const ofLedger = {
      ...health.waiting,
      orders: { count: 2, isCut: false },
      settings: { count: 1, isCut: false },
      books: {
        suspense: [sum('suspense:GHS', '40'), sum('suspense:XOF', '-7')],
        lowFloats: [
          { ...sum('float:upstream:GHS', '100'), held: '100.01' },
          { ...sum('float:upstream:XOF', '-5'), held: '0' },
        ],
      },
    };
    const told = {
      ledger: { waiting: ofLedger },
      webhooks: { waiting: { givenUpWebhooks: { count: 1, isCut: false } } },
    };
    expect(await printed(well, told)).toBe(
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
    const line = over(well);
    expect(await line.run('reconcile', 'status', '--json')).toBe(0);
    const { books, ...counts } = health.waiting;
    expect(JSON.parse(line.printed())).toEqual({
      ...well,
      caughtUp: true,
      parked: {
        waiting: Object.fromEntries(consumerGroups.map((service) => [service, 0])),
        unreported: [],
      },
      waiting: { ...counts, ...books, unreported: [] },
    });
  });
});

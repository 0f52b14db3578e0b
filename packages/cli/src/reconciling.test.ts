import { describe, expect, it } from 'vitest';
import { well } from './health.fixture.ts';
import { commandLine } from './program.fixture.ts';

const ok = (body: unknown) => ({ status: 200, body });
const wallet = {
  id: 'rn-1',
  at: '2026-01-02T03:00:00.000Z',
  rail: 'upstream',
  configured: true,
  currency: 'GHS',
  railBalance: '100.01',
  float: '100',
  drift: '0.01',
  lower: '0',
  upper: '0',
  unexplained: '0.01',
  withinRange: false,
  finding: 'out_of_range',
  explainedBy: [],
  unexplainedSince: '2026-01-02T02:00:00.000Z',
  candidates: [{ reference: 'po-7', why: 'its amount is the drift' }],
};
const explained = {
  ...wallet,
  currency: 'XOF',
  drift: '-5',
  unexplained: '0',
  withinRange: true,
  finding: 'explained',
  explainedBy: ['po-5'],
  unexplainedSince: null,
  candidates: [],
};
const page = (...items: readonly object[]) => ok({ items, next: null });

/** A reconciler that answers a comparison with these, and has these latest comparisons. */
function reconciler(compared: readonly object[], latest: readonly object[] = compared) {
  return commandLine((url) => (url.endsWith('/compare') ? page(...compared) : page(...latest)));
}

describe.each([['drift'], ['reconcile drift']])('pesewa %s', (name) => {
  it('shows each drift with its sign, and what could explain one that nothing explains', async () => {
    const line = reconciler([wallet, explained]);
    expect(await line.run(...name.split(' '))).toBe(0);
    expect(line.requests).toEqual(['http://reconciler/drift']);
    const printed = line.printed();
    expect(printed).toMatch(/upstream +100\.01 GHS +100\.00 GHS +\+0\.01 GHS +NO\n/);
    expect(printed).toMatch(/upstream +100\.01 XOF +100 XOF +-5 XOF +yes\n/);
    expect(printed).toContain(
      'upstream: +0.01 GHS is unexplained; unexplained since 2026-01-02T02:00:00.000Z; what could explain it:\n',
    );
    expect(printed).toMatch(/po-7 +its amount is the drift\n/);
    expect(printed).not.toContain('0 XOF is unexplained');
    expect(printed).toContain('upstream: -5 XOF is exactly what po-5 would move\n');
  });

  it('takes no difference that open payments could move for one that they explain', async () => {
    const open = { ...explained, drift: '-40', unexplained: '40', explainedBy: [] };
    const line = reconciler([
      { ...open, finding: 'unexplained_within_range', unexplainedSince: '2026-01-02T02:00:00.000Z' },
      { ...open, currency: 'GHS', finding: 'too_many_to_tell' },
      { ...open, currency: 'KES', finding: 'books_moved' },
    ]);
    await line.run(...name.split(' '));
    const printed = line.printed();
    expect(printed).toMatch(/-40 XOF +NO, within range\n/);
    expect(printed).toMatch(/-40\.00 GHS +too many open payments to tell\n/);
    expect(printed).toMatch(/-40\.00 KES +payments moved meanwhile\n/);
    expect(printed).toContain('payments in KES were posted whenever the rail answered');
    expect(printed).toContain('upstream: at least 40 XOF is unexplained, either way');
    expect(printed).toContain(
      'no combination of them gives the difference; unexplained since 2026-01-02T02:00',
    );
  });

  it('shows a rail that was taken out of the configuration as removed', async () => {
    const line = reconciler([{ ...explained, rail: 'gone', configured: false }, explained]);
    await line.run(...name.split(' '));
    expect(line.printed()).toMatch(/gone \(removed\) +100\.01 XOF .+\n.+upstream +100\.01 XOF/);
    expect(line.printed()).toContain('\nremoved: the rail is no longer in RAILS of the reconciler');
    const live = reconciler([explained]);
    await live.run(...name.split(' '));
    expect(live.printed()).not.toContain('removed');
  });

  it('says so where no payment could explain it, and where nothing was compared yet', async () => {
    const line = reconciler([{ ...wallet, candidates: [] }]);
    await line.run(...name.split(' '));
    expect(line.printed()).toContain('and no payment is known that could explain it\n');
    const empty = reconciler([]);
    await empty.run(...name.split(' '));
    expect(empty.printed()).toContain('no comparison yet');
  });
});

describe('pesewa reconcile run', () => {
  it('compares now, and is content with wallets in range', async () => {
    const line = reconciler([explained]);
    expect(await line.run('reconcile', 'run')).toBe(0);
    expect(line.requests).toMatchObject([
      { url: 'http://reconciler/compare', body: {} },
      'http://reconciler/drift',
    ]);
  });

  it('fails where a wallet is out of range, after printing it', async () => {
    const line = reconciler([wallet, explained]);
    expect(await line.run('reconcile', 'run')).toBe(1);
    expect(line.printed()).toContain('+0.01');
    expect(line.complained()).toBe('pesewa: upstream GHS is out of range: pesewa drift\n');
  });

  it('never takes a wallet that was not compared for one that is in range', async () => {
    const line = reconciler([], [explained]);
    expect(await line.run('reconcile', 'run')).toBe(1);
    expect(line.printed()).toContain('not compared: upstream XOF, last at 2026-01-02T03:00:00.000Z\n');
    expect(line.complained()).toContain('upstream XOF was not compared');
  });

  it('shows that it is comparing, and that nothing was compared if no rail reports a wallet', async () => {
    const line = reconciler([], []);
    expect(await line.run('reconcile', 'run')).toBe(1);
    expect(line.shown).toEqual(['comparing every wallet: each rail is asked up to three times …']);
    expect(line.printed()).toBe('no wallet was compared\n');
    expect(line.complained()).toContain('nothing was compared: no rail reported a wallet');
  });

  it('waits for no wallet of a rail that was removed', async () => {
    const gone = { ...wallet, rail: 'gone', configured: false };
    const line = reconciler([explained], [gone, explained]);
    expect(await line.run('reconcile', 'run')).toBe(0);
    expect(line.printed()).not.toContain('gone');
  });

  it('prints JSON', async () => {
    const line = reconciler([explained]);
    await line.run('reconcile', 'run', '--json');
    expect(JSON.parse(line.printed())).toMatchObject({ runs: [{ drift: '-5' }], notCompared: [] });
  });
});

const status = {
  at: '2026-01-02T04:00:00.000Z',
  uncompared: [{ rail: 'upstream', reference: 'po-9', endedAt: '2026-01-02T03:00:00.000Z' }],
  open: [
    {
      kind: 'payout',
      count: 1_200,
      states: [{ state: 'not_found', reference: 'po-1', openedAt: '2026-01-02T00:39:57.000Z' }],
      overdue: { count: 0, oldest: [] },
    },
    { kind: 'collection', count: 0, states: [], overdue: { count: 0, oldest: [] } },
  ],
  silent: [],
  polls: [
    { rail: 'upstream', configured: true, due: 10_000, overdue: 3, oldestDueAt: '2026-01-02T03:58:00.000Z' },
  ],
  breaks: [{ kind: 'payment.stuck', count: 2, oldestAt: '2025-12-31T02:00:00.000Z' }],
  breakSums: [],
  comparison: {
    at: '2026-01-02T03:45:00.000Z',
    wallets: 3,
    outOfRange: ['upstream:GHS'],
    unexplained: [
      { wallet: 'upstream:XOF', finding: 'unexplained_within_range', since: '2026-01-02T03:00:00.000Z' },
      { wallet: 'upstream:NGN', finding: 'too_many_to_tell', since: null },
    ],
    removed: [],
  },
  coverage: { at: '2026-01-02T02:00:00.000Z', status: 'done', found: 0 },
  close: {
    to: '2026-01-02T00:00:00.000Z',
    finishedAt: '2026-01-02T03:59:59.100Z',
    counts: { matched: 7, not_at_rail: 1 },
    late: 2,
  },
  unreported: [],
};

/** A reconciler with this status, and services that are well unless given. */
function standing(found: object, change: Readonly<Record<string, object>> = {}) {
  return commandLine((url) => {
    const { host, pathname } = new URL(url);
    return pathname === '/status' ? ok(found) : ok({ ...well, ...change[host] });
  });
}

describe('pesewa reconcile status', () => {
  it('shows what is open, due and broken, and since when', async () => {
    const line = standing(status);
    expect(await line.run('reconcile', 'status')).toBe(0);
    expect(line.requests).toContain('http://reconciler/status');
    expect(line.printed()).toBe(
      [
        'OPEN         COUNT      OLDEST  WHICH',
        'payouts       1200  3 h 20 min  po-1 (not found)',
        'collections      0           -  -',
        '',
        'POLLS               DUE  OVERDUE  LONGEST',
        'upstream  10000 or more        3    2 min',
        '',
        'BREAKS          COUNT   OLDEST',
        'payment: stuck      2  2 d 2 h',
        '',
        'wallets    last comparison: 15 min ago, 3 in all, out of range: upstream:GHS, unexplained within range: upstream:XOF for 1 h, too many open payments to tell: upstream:NGN',
        'coverage   last audit: 2 h ago, done, 0 found',
        'close      last daily close: 0 s ago, of the time before 2026-01-02T00:00:00.000Z: 7 matched, 1 not at the rail, 2 came late',
        'uncompared oldest payment that no close and no statement has compared: po-9 at upstream, ended 1 h ago',
        'events     all that was published is applied',
        'parked     messages that wait: none',
        'in all     look at breaks, overdue polls, wallets out of range, wallets that nothing explains',
        '',
      ].join('\n'),
    );
  });

  it('names the parts that were not answered in time, and prints the rest', async () => {
    const line = standing({ ...status, open: null, unreported: ['open'] }, { reconciler: { keepsUp: null } });
    expect(await line.run('reconcile', 'status')).toBe(1);
    expect(line.printed()).not.toContain('payouts');
    expect(line.printed()).toContain('payment: stuck');
    expect(line.complained()).toContain('did not answer in time: caught up, open');
  });

  it('shows what is left of removed rails', async () => {
    const gone = { rail: 'gone', configured: false, due: 2, overdue: 0, oldestDueAt: null };
    const removed = [
      { wallet: 'gone:GHS', withinRange: false },
      { wallet: 'gone:KES', withinRange: true },
    ];
    const line = standing({
      ...status,
      polls: [...status.polls, gone],
      comparison: { ...status.comparison, removed },
    });
    expect(await line.run('reconcile', 'status')).toBe(0);
    expect(line.printed()).toMatch(/gone \(removed\) +2 +0 +-\n/);
    expect(line.printed()).toContain(
      "removed    payments of gone can't be asked for: put the rail back into RAILS until none waits\n" +
        'removed    wallets not compared any more: gone:GHS (was out of range), gone:KES\n',
    );
  });

  it('shows how many messages wait at each service, and which services did not answer', async () => {
    const { run, printed } = standing(status, {
      ledger: { parked: { count: 2, isCut: false } },
      webhooks: { parked: 'of another version' },
    });
    expect(await run('reconcile', 'status')).toBe(0);
    expect(printed()).toContain(
      'parked     messages that wait: 2 at ledger; no answer from webhook-dispatcher: see pesewa parked\n',
    );
  });

  it('says never where nothing was ever compared, audited or closed', async () => {
    const line = standing({
      ...status,
      comparison: {
        at: null,
        wallets: 0,
        outOfRange: [],
        unexplained: [],
        removed: [],
      },
      coverage: { at: null, status: 'running', found: 0 },
      close: { to: null, finishedAt: null, counts: null, late: 0 },
    });
    await line.run('reconcile', 'status');
    for (const never of ['last comparison: never\n', 'last audit: never\n', 'last daily close: never\n'])
      expect(line.printed()).toContain(never);
  });
});

import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const ok = (body: unknown) => ({ status: 200, body });
const wallet = {
  id: 'rn-1',
  at: '2026-01-02T03:00:00.000Z',
  rail: 'upstream',
  currency: 'GHS',
  railBalance: '100.01',
  float: '100',
  drift: '0.01',
  unexplained: '0.01',
  withinRange: false,
  candidates: [{ reference: 'po-7', why: 'its amount is the drift' }],
};
const explained = {
  ...wallet,
  currency: 'XOF',
  drift: '-5',
  unexplained: '0',
  withinRange: true,
  candidates: [],
};
const page = (...items: readonly object[]) => ok({ items, next: null });

/** A reconciler that compares, and whose latest comparisons are these. */
function reconciler(compared: readonly object[], latest: readonly object[] = compared) {
  return commandLine((url) => (url.endsWith('/compare') ? page(...compared) : page(...latest)));
}

describe.each([['drift'], ['reconcile drift']])('pesewa %s', (name) => {
  it('shows each drift with its sign, and what could explain one that nothing explains', async () => {
    const line = reconciler([wallet, explained]);
    expect(await line.run(...name.split(' '))).toBe(0);
    expect(line.requests).toEqual(['http://reconciler/drift']);
    const printed = line.printed();
    expect(printed).toMatch(/upstream +GHS +100\.01 +100 +\+0\.01 +NO\n/);
    expect(printed).toMatch(/upstream +XOF +100\.01 +100 +-5 +yes\n/);
    expect(printed).toContain('upstream GHS: +0.01 is unexplained; what could explain it:\n');
    expect(printed).toMatch(/po-7 +its amount is the drift\n/);
    expect(printed).not.toContain('upstream XOF:');
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
    expect(line.complained()).toBe('pesewa: upstream GHS is out of range: pesewa reconcile drift\n');
  });

  it('never takes a wallet that was not compared for one that is in range', async () => {
    const line = reconciler([], [explained]);
    expect(await line.run('reconcile', 'run')).toBe(1);
    expect(line.printed()).toContain('not compared: upstream XOF, last at 2026-01-02T03:00:00.000Z\n');
    expect(line.complained()).toContain('upstream XOF was not compared');
  });

  it('prints JSON', async () => {
    const line = reconciler([explained]);
    await line.run('reconcile', 'run', '--json');
    expect(JSON.parse(line.printed())).toMatchObject({ runs: [{ drift: '-5' }], notCompared: [] });
  });
});

const status = {
  at: '2026-01-02T04:00:00.000Z',
  open: [
    {
      kind: 'payout',
      count: 1_200,
      oldest: { state: 'not_found', reference: 'po-1', openedAt: '2026-01-02T00:39:57.000Z' },
      states: [{ state: 'not_found', reference: 'po-1', openedAt: '2026-01-02T00:39:57.000Z' }],
    },
    { kind: 'collection', count: 0, oldest: null, states: [] },
  ],
  polls: [{ rail: 'upstream', due: 10_000, overdue: 3, oldestDueAt: '2026-01-02T03:58:00.000Z' }],
  breaks: [{ kind: 'payment.stuck', count: 2, oldestAt: '2025-12-31T02:00:00.000Z' }],
  comparison: { at: '2026-01-02T03:45:00.000Z', wallets: 3, outOfRange: ['upstream:GHS'] },
  coverage: { at: '2026-01-02T02:00:00.000Z', status: 'done', found: 0, repaired: 0 },
  close: {
    to: '2026-01-02T00:00:00.000Z',
    finishedAt: '2026-01-02T03:59:59.100Z',
    counts: { matched: 7, missing_there: 1 },
  },
  caughtUp: true,
  untold: [],
};

describe('pesewa reconcile status', () => {
  it('tells what is open, due and broken, and since when', async () => {
    const line = commandLine([ok(status)]);
    expect(await line.run('reconcile', 'status')).toBe(0);
    expect(line.requests).toEqual(['http://reconciler/status']);
    expect(line.printed()).toBe(
      [
        'OPEN         COUNT      OLDEST  WHICH',
        'payouts       1200  3 h 20 min  po-1 (not found)',
        'collections      0           -  -',
        '',
        'POLLS               DUE  OVERDUE  LONGEST',
        'upstream  10000 or more        3    2 min',
        '',
        'BREAKS         COUNT   OLDEST',
        'payment.stuck      2  2 d 2 h',
        '',
        'wallets    compared 15 min ago, 3 in all, out of range: upstream:GHS',
        'coverage   audited 2 h ago: done, 0 found, 0 repaired',
        'close      of the time before 2026-01-02T00:00:00.000Z, done 0 s ago: 7 matched, 1 missing there',
        'events     all that was published is applied',
        '',
      ].join('\n'),
    );
  });

  it('names what was not told in time, and prints the rest', async () => {
    const line = commandLine([ok({ ...status, open: null, caughtUp: null, untold: ['caughtUp', 'open'] })]);
    expect(await line.run('reconcile', 'status')).toBe(1);
    expect(line.printed()).not.toContain('payouts');
    expect(line.printed()).toContain('payment.stuck');
    expect(line.complained()).toContain('did not tell in time: caughtUp, open');
  });

  it('says never where nothing was ever compared, audited or closed', async () => {
    const line = commandLine([
      ok({
        ...status,
        comparison: { at: null, wallets: 0, outOfRange: [] },
        coverage: { at: null, status: null, found: 0, repaired: 0 },
        close: { to: null, finishedAt: null, counts: null },
      }),
    ]);
    await line.run('reconcile', 'status');
    for (const never of ['compared never', 'audited never', 'done never'])
      expect(line.printed()).toContain(never);
  });

  it('prints JSON', async () => {
    const line = commandLine([ok(status)]);
    await line.run('reconcile', 'status', '--json');
    expect(JSON.parse(line.printed())).toEqual(status);
  });
});

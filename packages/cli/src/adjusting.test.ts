import { describe, expect, it } from 'vitest';
import { breakRow, unknownSides } from './breaks.fixture.ts';
import { commandLine } from './program.fixture.ts';

const row = breakRow({
  id: 'upstream:GHS/balance',
  kind: 'wallet.drift',
  reference: 'upstream:GHS',
  currency: 'GHS',
  amount: '-12.5',
});
const whole = {
  ...row,
  observations: [],
  ...unknownSides,
  corrections: [],
  history: [],
};
const floats = { items: [{ rail: 'upstream', currency: 'GHS', balance: '100' }], next: null };
const run = {
  id: 'upstream:GHS#1',
  at: '2026-11-03T08:00:00.000Z',
  rail: 'upstream',
  configured: true,
  currency: 'GHS',
  railBalance: '87.5',
  float: '100',
  drift: '-12.5',
  lower: '100',
  upper: '100',
  withinRange: false,
  finding: 'out_of_range',
  explainedBy: [],
  unexplainedSince: null,
  unexplained: '-12.5',
  candidates: [],
};
const breakUrl = 'http://reconciler/breaks/upstream%3AGHS%2Fbalance';
const ordersUrl = 'http://ledger/commands?breakId=upstream%3AGHS%2Fbalance';
const answerWith = (runs: readonly object[]) => (url: string) => {
  const lists = { floats, drift: { items: runs, next: null }, commands: { items: [], next: null } };
  const [, list] = /\/(floats|drift|commands)(?:\?.*)?$/.exec(url) ?? [];
  return { status: 200, body: list === undefined ? whole : lists[list as keyof typeof lists] };
};
const adjust = (amount: string) =>
  ['reconcile', 'breaks', 'adjust', row.id, '--suspense', '--amount', amount, '--reason', 'lost'] as const;

describe('the adjustment of a break', () => {
  it('is only shown with --dry-run, with float and drift after it', async () => {
    const line = commandLine(answerWith([run]));
    expect(await line.run(...adjust('-12.50'), '--dry-run')).toBe(0);
    expect(line.requests).toEqual([breakUrl, ordersUrl, 'http://ledger/floats', 'http://reconciler/drift']);
    expect(line.printed()).toBe(
      [
        'would order: 12.50 GHS that the rail lacks, from suspense out of the GHS float at upstream',
        'float now    100.00 GHS',
        'float after  87.50 GHS',
        'drift now    -12.50 GHS, compared at 2026-11-03T08:00:00.000Z',
        'drift after  0.00 GHS',
        'nothing was sent',
        '',
      ].join('\n'),
    );
  });

  it('says that it is too much', async () => {
    const shown = commandLine(answerWith([run]));
    expect(await shown.run(...adjust('-20'), '--dry-run')).toBe(0);
    expect(shown.printed()).toContain(
      'drift after  +7.50 GHS\nthis is more than the drift: the rail has 12.50 GHS less than our float, so the order takes no more than that\n',
    );
    const explained = commandLine(answerWith([{ ...run, finding: 'explained', withinRange: true }]));
    await explained.run(...adjust('-12.5'), '--dry-run');
    expect(explained.printed()).toContain('payments in flight explain this drift');
  });

  it('says that its sign is wrong, and is not sent with it', async () => {
    const shown = commandLine(answerWith([run]));
    expect(await shown.run(...adjust('+12.50'), '--dry-run')).toBe(0);
    expect(shown.printed()).toContain(
      'drift after  -25.00 GHS\nthis makes the drift larger: the rail has 12.50 GHS less than our float, so the order takes a -\n',
    );
    const refused = commandLine(answerWith([run]));
    expect(await refused.run(...adjust('+12.50'))).toBe(1);
    expect(refused.complained()).toContain('this makes the drift larger: write it with a -');
    expect(refused.requests).toEqual([breakUrl]);
  });

  it('says so where the drift is not known', async () => {
    const line = commandLine(answerWith([]));
    expect(await line.run(...adjust('-12.50'), '--dry-run')).toBe(0);
    expect(line.printed()).toContain('drift now    not known: this wallet was never compared');
  });
});

it('is shown to its approver with another order that may correct the same break twice', async () => {
  const order = {
    commandId: 'cm-1',
    kind: 'suspense',
    rail: 'upstream',
    currency: 'GHS',
    amount: '12.5',
    direction: 'shortage',
    breakId: row.id,
    status: 'proposed',
    requestedBy: 'ama',
    requestedAt: '2026-11-01T08:00:00.000Z',
  };
  const shown = async (...others: readonly object[]) => {
    const line = commandLine((url) => {
      const orders = { items: [order, ...others], next: null };
      if (url.includes('?breakId=')) return { status: 200, body: orders };
      return { status: 200, body: url.includes('/breaks/') ? { ...whole, corrections: ['cm-2'] } : order };
    });
    expect(await line.run('orders', 'approve', 'cm-1', '--dry-run')).toBe(0);
    return line.printed();
  };
  const other = { ...order, status: 'approved', commandId: 'cm-3' };
  expect(await shown(other)).toContain('cm-3 for the same break is approved: what it corrects may be');
  const over = [
    { ...other, commandId: 'cm-2' },
    { ...other, status: 'rejected' },
  ];
  expect(await shown(...over)).not.toContain('warning');
});

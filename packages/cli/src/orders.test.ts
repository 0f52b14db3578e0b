import type { OperationsAnswer } from '@pesewa/operator-client';
import { describe, expect, it } from 'vitest';
import type { CliPorts } from './ports.ts';
import { commandLine } from './program.fixture.ts';
import { runProgram } from './program.ts';

const order = {
  commandId: 'cm-1',
  kind: 'fund',
  merchantId: 'demo',
  currency: 'GHS',
  amount: '2500.50',
  status: 'proposed',
  requestedBy: 'ama',
  requestedAt: '2026-11-01T08:00:00.000Z',
  expiresAt: '2026-11-08T08:00:00.000Z',
};
const answer = (status: number, body: unknown): OperationsAnswer => ({ status, body });
const proposed = answer(202, order);
const approved = answer(200, { ...order, status: 'approved', approvedBy: 'kofi', approvedAt: '…' });
const applied = answer(200, { ...order, status: 'applied', approvedBy: 'kofi', appliedAt: '…' });
const refused = answer(200, {
  ...order,
  status: 'refused',
  approvedBy: 'kofi',
  refusedFor: 'Insufficient funds',
});

const token = 'operator-token-of-tests';
const what = '2,500.50 GHS received by the treasury, into the GHS wallet of demo, ordered by ama';

describe('an order', () => {
  it('is proposed, and says who must act next', async () => {
    const line = commandLine([proposed]);
    expect(await line.run('fund', 'wallet', 'demo', 'ghs', '2,500.50')).toBe(0);
    const body = { merchantId: 'demo', commandId: 'cm-1', currency: 'GHS', amount: '2500.5' };
    expect(line.requests).toEqual([{ url: 'http://ledger/commands/fund', token, body }]);
    expect(line.printed()).toBe(
      `ordering cm-1\nproposed cm-1: ${what}\nwaiting for another approver until 2026-11-08T08:00:00.000Z: pesewa orders approve cm-1\n`,
    );
  });

  it('is seen through with --approve, by the other token, until the ledger has applied it', async () => {
    const line = commandLine([proposed, approved, approved, applied]);
    expect(await line.run('fund', 'wallet', 'demo', 'GHS', '2500.50', '--approve')).toBe(0);
    expect(line.requests.slice(1)).toEqual([
      { url: 'http://ledger/commands/cm-1/approve', token: 'approver-token-of-tests', body: {} },
      'http://ledger/commands/cm-1',
      'http://ledger/commands/cm-1',
    ]);
    expect(line.printed()).toBe(`ordering cm-1\napplied cm-1: ${what}, approved by kofi\n`);
    expect(line.shown).toEqual(['cm-1 is approved, the ledger applies it … 0 s']);
  });

  it('that the ledger refuses is an error that says why', async () => {
    const line = commandLine([proposed, approved, refused]);
    expect(await line.run('withdraw', 'wallet', 'demo', 'GHS', '2500.50', '--approve')).toBe(1);
    expect(line.complained()).toBe('pesewa: the ledger refused cm-1: Insufficient funds; nothing moved\n');
  });

  it('whose answer is lost shows the id with which a repetition is the same order', async () => {
    const line = commandLine();
    const taken = new Map<string | undefined, unknown>();
    let ids = 0;
    const ports: CliPorts = {
      ...line.ports,
      environment: {
        ...line.ports.environment,
        MONGODB_URL: 'mongodb://unused',
        LEDGER_URL: 'http://ledger',
      },
      ids: { next: (prefix) => `${prefix}-${++ids}` },
      exchange: ({ body }) => {
        const [, announced] = /^ordering (.+)\n$/.exec(line.printed()) ?? [];
        const isLost = taken.size === 0;
        taken.set(announced, body);
        return isLost ? Promise.reject(new Error('the connection was reset')) : Promise.resolve(proposed);
      },
    };
    const call = ['fund', 'wallet', 'demo', 'GHS', '2500.50'];
    const run = (...more: string[]) => runProgram(ports, [...call, ...more]);
    expect(await run()).toBe(1);
    expect(line.complained()).toBe(
      'pesewa: the connection was reset; it may have been taken: repeat with --command-id cm-1\n',
    );
    expect([...taken]).toMatchObject([['cm-1', { commandId: 'cm-1', amount: '2500.5' }]]);
    expect(await run('--command-id', 'cm-1')).toBe(0);
    expect(ids).toBe(1);
  });

  it.each([
    [answer(409, { message: 'no such wallet' }), 'ledger: no such wallet'],
    [
      answer(500, { message: 'broken' }),
      'ledger: broken; it may have been taken: repeat with --command-id cm-1',
    ],
    [
      answer(202, {}),
      'ledger answered something else than expected: use the same version of both; it may have been taken: repeat with --command-id cm-1',
    ],
  ])('may have been taken unless it was refused: %j', async (answered, message) => {
    const line = commandLine([answered]);
    expect(await line.run('fund', 'wallet', 'demo', 'GHS', '2500.50')).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
  });

  it('was taken where only its approval fails', async () => {
    const line = commandLine([proposed, answer(503, undefined)]);
    expect(await line.run('fund', 'wallet', 'demo', 'GHS', '2500.50', '--approve')).toBe(1);
    expect(line.complained()).toContain('the order was taken: repeat with --command-id cm-1');
  });

  it('that is approved but not applied in time is not given up', async () => {
    const line = commandLine([proposed, approved]);
    expect(await line.run('fund', 'wallet', 'demo', 'GHS', '1', '--approve')).toBe(1);
    expect(line.complained()).toContain('look with pesewa orders show cm-1');
  });

  it.each([
    [
      ['fund', 'float', 'upstream', 'XOF', '100'],
      'fund-float',
      { rail: 'upstream', currency: 'XOF', amount: '100' },
    ],
    [
      ['withdraw', 'wallet', 'demo', 'GHS', '1'],
      'withdraw',
      { merchantId: 'demo', currency: 'GHS', amount: '1' },
    ],
    [
      ['withdraw', 'float', 'upstream', 'GHS', '1'],
      'withdraw-float',
      { rail: 'upstream', currency: 'GHS', amount: '1' },
    ],
    [
      ['adjust', 'demo', 'GHS', '-12.50', '--reason', 'credited twice'],
      'adjust',
      { merchantId: 'demo', currency: 'GHS', amount: '12.5', direction: 'debit', reason: 'credited twice' },
    ],
    [
      ['adjust', 'demo', 'GHS', '+12.50', '--reason', 'never credited'],
      'adjust',
      { merchantId: 'demo', currency: 'GHS', amount: '12.5', direction: 'credit', reason: 'never credited' },
    ],
    [
      ['suspense', 'upstream', 'GHS', '+40', '--reason', 'break br-1'],
      'suspense',
      { rail: 'upstream', currency: 'GHS', amount: '40', direction: 'surplus', reason: 'break br-1' },
    ],
    [
      ['suspense', 'upstream', 'GHS', '-40', '--reason', 'break br-1'],
      'suspense',
      { rail: 'upstream', currency: 'GHS', amount: '40', direction: 'shortage', reason: 'break br-1' },
    ],
  ])('of every kind goes its way: %j', async (call, kind, body) => {
    const line = commandLine([proposed]);
    expect(await line.run(...call, '--command-id', 'cm-own')).toBe(0);
    const sent = { ...body, commandId: 'cm-own' };
    expect(line.requests).toEqual([{ url: `http://ledger/commands/${kind}`, token, body: sent }]);
  });

  it.each([
    [['fund', 'wallet', 'demo', 'GHS', '0'], 'amount: 0 must be greater than zero'],
    [['fund', 'wallet', 'demo', 'GHS', '1.001'], 'amount: 1.001 must have at most 2 decimals in GHS'],
    [['fund', 'wallet', 'demo', 'GHS', '1e20'], 'amount: 1e20 must be at most 90,071,992,547,409.91 GHS'],
    [
      ['withdraw', 'wallet', 'demo', 'KES', '1'],
      'currency: demo has no KES wallet: to add it, see pesewa merchants set-wallet --help',
    ],
    [['fund', 'wallet', 'nobody', 'GHS', '1'], 'merchant: there is no nobody: see pesewa merchants list'],
    [
      ['adjust', 'demo', 'GHS', '5', '--reason', 'x'],
      'amount: 5 says no direction: write + or - before it, such as +12.50',
    ],
    [['adjust', 'demo', 'GHS', '-0', '--reason', 'x'], 'amount: 0 must be greater than zero'],
    [
      ['suspense', 'upstream', 'GHS', '+1', '--reason', 'x'.repeat(201)],
      '--reason: must have at most 200 characters',
    ],
    [['suspense', 'upstream', 'GHS', '+1'], "required option '--reason <text>' not specified: see --help"],
    [
      ['fund', 'float', 'upstream', 'GHS', '1', '--command-id', 'po-1'],
      '--command-id: write 1 to 64 letters, digits, dots, underscores, colons or hyphens, not beginning with po- or co-',
    ],
  ])('is refused before anything is sent: %j', async (call, message) => {
    const line = commandLine([proposed]);
    expect(await line.run(...call)).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
    expect(line.requests).toEqual([]);
  });
});

describe('a dry run', () => {
  const account = answer(200, {
    merchantId: 'demo',
    currency: 'GHS',
    available: '10',
    held: '0',
    sequence: 1,
  });
  const floats = answer(200, { items: [{ rail: 'upstream', currency: 'GHS', balance: '-3' }], next: null });

  it('shows a wallet before and after, and sends nothing', async () => {
    const line = commandLine([account]);
    expect(await line.run('adjust', 'demo', 'GHS', '+25e-1', '--reason', 'x', '--dry-run')).toBe(0);
    expect(line.requests).toEqual(['http://ledger/accounts/demo/GHS']);
    expect(line.printed()).toBe(
      [
        'would order: 2.50 GHS from suspense into the GHS wallet of demo',
        'available now    10.00 GHS',
        'available after  12.50 GHS',
        'nothing was sent',
        '',
      ].join('\n'),
    );
  });

  it('says what the ledger would refuse', async () => {
    const line = commandLine([account]);
    const withdrawal = ['withdraw', 'wallet', 'demo', 'GHS', '10.01', '--dry-run'];
    expect([await line.run(...withdrawal), await line.run(...withdrawal, '--approve')]).toEqual([0, 1]);
    expect(line.printed()).toContain('available after  -0.01 GHS\nthe ledger would refuse this');
  });

  it('shows a float before and after, and says where there is none', async () => {
    const line = commandLine([floats]);
    await line.run('suspense', 'upstream', 'GHS', '-4', '--reason', 'x', '--dry-run');
    expect(line.printed()).toContain('float after  -7.00 GHS\ndrift now    not known');
    const other = commandLine([floats]);
    await other.run('fund', 'float', 'upstraem', 'GHS', '1', '--dry-run');
    expect(other.printed()).toContain('check the name of the rail');
  });

  it('of a decision shows the order and decides nothing', async () => {
    for (const call of [['approve'], ['reject', '--reason', 'x']]) {
      const [name = '', ...options] = call;
      const line = commandLine([answer(200, order)]);
      expect(await line.run('orders', name, 'cm-1', ...options, '--dry-run')).toBe(0);
      expect(line.requests).toEqual(['http://ledger/commands/cm-1']);
      expect(line.printed()).toContain('nothing was');
    }
  });
});

describe('orders', () => {
  it('are listed over all pages, signed where they take money away', async () => {
    const debit = { ...order, kind: 'adjust', direction: 'debit', commandId: 'cm-2' };
    const line = commandLine([
      answer(200, { items: [order], next: '1.cm-1' }),
      answer(200, { items: [debit], next: null }),
    ]);
    expect(await line.run('orders', 'list', '--status', 'proposed')).toBe(0);
    expect(line.requests).toEqual([
      'http://ledger/commands?status=proposed',
      'http://ledger/commands?status=proposed&cursor=1.cm-1',
    ]);
    expect(line.printed()).toContain('cm-1   proposed  fund     2,500.50 GHS');
    expect(line.printed()).toContain('cm-2   proposed  adjust  -2,500.50 GHS');
  });

  it('are approved by the other token, and waited for', async () => {
    const line = commandLine([approved, applied]);
    expect(await line.run('orders', 'approve', 'cm-1')).toBe(0);
    const body = {};
    expect(line.requests[0]).toEqual({
      url: 'http://ledger/commands/cm-1/approve',
      token: 'approver-token-of-tests',
      body,
    });
    expect(line.printed()).toBe(`applied cm-1: ${what}, approved by kofi\n`);
  });

  it('are rejected in the own name, with a reason', async () => {
    const line = commandLine([answer(200, { ...order, status: 'rejected', rejectedBy: 'ama' })]);
    expect(await line.run('orders', 'reject', 'cm-1', '--reason', 'wrong amount')).toBe(0);
    const body = { reason: 'wrong amount' };
    expect(line.requests).toEqual([{ url: 'http://ledger/commands/cm-1/reject', token, body }]);
    expect(line.printed()).toContain('rejected cm-1');
  });

  it("pass on the ledger's refusal with its remedy", async () => {
    const line = commandLine([
      answer(403, { code: 'same_operator', message: 'another operator must approve it' }),
    ]);
    expect(await line.run('orders', 'approve', 'cm-1')).toBe(1);
    expect(line.complained()).toBe('pesewa: ledger: another operator must approve it\n');
  });

  it('are shown with who did what', async () => {
    const line = commandLine([
      answer(200, { ...order, status: 'refused', approvedBy: 'kofi', refusedFor: 'Insufficient funds' }),
    ]);
    await line.run('orders', 'show', 'cm-1');
    expect(line.printed()).toContain('ordered by     ama at 2026-11-01T08:00:00.000Z\n');
    expect(line.printed()).toContain('refused for    Insufficient funds\n');
  });
});

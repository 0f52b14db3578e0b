import type { OperationsAnswer } from '@pesewa/operator-client';
import { describe, expect, it } from 'vitest';
import { breakRow, unknownSides } from './breaks.fixture.ts';
import { commandLine } from './program.fixture.ts';

const row = breakRow({
  id: 'upstream:GHS/balance',
  kind: 'wallet.drift',
  reference: 'upstream:GHS',
  status: 'assigned',
  currency: 'GHS',
  amount: '-12.5',
  detail: '=less than our books',
  owner: 'ama',
  since: '2026-11-02T08:00:00.000Z',
  version: 3,
});
const whole = {
  ...row,
  observations: [],
  ...unknownSides,
  resolutionProposedBy: null,
  adjustments: [],
  history: [
    { at: '2026-11-01T08:00:00.000Z', by: null, what: 'opened', text: null, amount: '-12.5' },
    { at: '2026-11-02T08:00:00.000Z', by: 'kofi', what: 'assigned', text: 'ama', amount: null },
  ],
  links: [{ service: 'reconciler', path: '/runs?rail=upstream&currency=GHS' }],
};
const order = {
  commandId: 'bk-1',
  kind: 'suspense',
  rail: 'upstream',
  currency: 'GHS',
  amount: '12.5',
  direction: 'shortage',
  status: 'proposed',
  requestedBy: 'ama',
  requestedAt: '2026-11-03T08:00:00.000Z',
  expiresAt: '2026-11-10T08:00:00.000Z',
};
const answer = (body: unknown, status = 200): OperationsAnswer => ({ status, body });
const token = 'operator-token-of-tests';
const url = 'http://reconciler/breaks/upstream%3AGHS%2Fbalance';
const line = `assigned ${row.id}: -12.50 GHS, =less than our books, ama has it\n`;

describe('breaks', () => {
  it.each([[['reconcile', 'breaks']], [['reconcile', 'breaks', 'list']]])(
    'are listed by %s',
    async (call) => {
      const program = commandLine([answer({ items: [row], next: null })]);
      expect(await program.run(...call)).toBe(0);
      expect(program.requests).toEqual(['http://reconciler/breaks?status=unresolved&limit=50']);
      expect(program.printed()).toContain(`${row.id}  assigned  -12.50 GHS  upstream  ama    2026-11-02`);
    },
  );

  it('are listed by every filter, page by page, as JSON and CSV', async () => {
    const pages = [answer({ items: [row, row], next: '5.x/y' }), answer({ items: [row], next: null })];
    const program = commandLine(pages);
    const filters = ['--kind', 'wallet.drift', '--rail', 'upstream', '--currency', 'ghs', '--owner', 'ama'];
    const more = [
      '--reference',
      'upstream:GHS',
      '--waits-for-approval',
      '--older-than',
      '7d',
      '--status',
      'all',
      '--limit',
      '250',
    ];
    expect(await program.run('reconcile', 'breaks', 'list', ...filters, ...more, '--json')).toBe(0);
    const query =
      'reference=upstream%3AGHS&kind=wallet.drift&rail=upstream&currency=GHS&owner=ama&waitsForApproval=true&olderThan=7d';
    expect(program.requests).toEqual([
      `http://reconciler/breaks?${query}&limit=200`,
      `http://reconciler/breaks?${query}&limit=200&cursor=5.x%2Fy`,
    ]);
    expect(JSON.parse(program.printed())).toHaveLength(3);
    const csv = commandLine([answer({ items: [row], next: null })]);
    expect(await csv.run('reconcile', 'breaks', 'list', '--csv')).toBe(0);
    expect(csv.printed()).toMatch(/^id,kind,reference,rail,status,.*,version\r\nupstream:GHS\/balance,/);
    expect(csv.printed()).toContain(",-12.5,'=less than our books,ama,");
  });

  it.each<[string, readonly string[], string]>([
    [
      'an age',
      ['--older-than', 'week'],
      '--older-than: must be minutes, hours or days, such as 90m, 12h or 7d',
    ],
    ['a count', ['--limit', '0'], '--limit: 0 is no count: write a whole number from 1'],
  ])('name the option for %s that is none', async (_name, call, message) => {
    const program = commandLine([]);
    expect(await program.run('reconcile', 'breaks', 'list', ...call)).toBe(1);
    expect(program.complained()).toBe(`pesewa: ${message}\n`);
    expect(program.requests).toEqual([]);
  });

  it('are written to a file, in the form of its name', async () => {
    const program = commandLine([answer(undefined)]);
    expect(await program.run('reconcile', 'breaks', 'export', 'b.json', '--rail', 'upstream')).toBe(0);
    const path = 'http://reconciler/breaks/export?status=unresolved&rail=upstream&format=json';
    expect(program.requests).toEqual([{ url: path, token, file: 'b.json' }]);
    expect(program.printed()).toBe('the breaks are in b.json\n');
  });

  it('are shown one by one, with their history', async () => {
    const adjustments = [
      {
        ...order,
        merchantId: undefined,
        proposedBy: 'ama',
        proposedAt: order.requestedAt,
        concludedAt: null,
      },
    ];
    const program = commandLine([answer({ ...whole, adjustments })]);
    expect(await program.run('reconcile', 'breaks', 'show', row.id)).toBe(0);
    expect(program.requests).toEqual([url]);
    expect(program.printed().split('\n')).toEqual(
      expect.arrayContaining([
        'kind           wallet: drift',
        'difference     -12.50 GHS',
        'owner          ama',
        'waits for      the order bk-1: see pesewa orders show bk-1',
        '  2026-11-01T08:00:00.000Z  opened -12.50 GHS',
        '  2026-11-02T08:00:00.000Z  assigned by kofi: ama',
        '  pesewa drift',
      ]),
    );
  });

  it.each<[string, string, string, object]>([
    ['assign', 'ama', 'assign', { operator: 'ama' }],
    ['note', 'asked the rail', 'notes', { text: 'asked the rail' }],
    ['explain', 'a fee', 'explain', { explanation: 'a fee' }],
    ['resolve', 'paid back', 'resolve', { resolution: 'paid back' }],
    ['reopen', 'not so', 'reopen', { reason: 'not so' }],
  ])('are changed by %s, and only shown with --dry-run', async (verb, text, path, body) => {
    const program = commandLine([answer(whole)]);
    expect(await program.run('reconcile', 'breaks', verb, row.id, text)).toBe(0);
    expect(program.requests).toEqual([{ url: `${url}/${path}`, token, body }]);
    expect(program.printed()).toBe(line);
    const dry = commandLine([answer(whole)]);
    expect(await dry.run('reconcile', 'breaks', verb, row.id, text, '--dry-run')).toBe(0);
    expect(dry.requests).toEqual([url]);
    expect(dry.printed()).toBe(`${line}nothing was changed\n`);
  });
});

describe('the adjustment of a break', () => {
  const suspense = [
    'reconcile',
    'breaks',
    'adjust',
    row.id,
    '--suspense',
    '--amount',
    '-12.50',
    '--reason',
    'lost',
  ];
  const isOf = (path: string) => (request: unknown) => JSON.stringify(request).includes(path);
  const bodyOf = (program: ReturnType<typeof commandLine>, path: string) =>
    (program.requests.find(isOf(path)) as { readonly body: Record<string, string> } | undefined)?.body;

  it('is noted before it is ordered, under one id however often it is repeated', async () => {
    const answers = (at: string) =>
      at.startsWith('http://ledger') ? answer({ ...order, commandId: 'bk-x' }, 202) : answer(whole);
    const program = commandLine(answers);
    expect(await program.run(...suspense)).toBe(0);
    const noted = bodyOf(program, '/adjustment');
    expect(noted).toEqual({
      rail: 'upstream',
      commandId: expect.stringMatching(/^bk-[0-9a-f]{24}$/) as unknown,
      currency: 'GHS',
      amount: '-12.5',
      explanation: 'lost',
    });
    expect(bodyOf(program, '/commands/suspense')).toEqual({
      rail: 'upstream',
      commandId: noted?.['commandId'],
      currency: 'GHS',
      amount: '12.5',
      direction: 'shortage',
      reason: `lost (break ${row.id})`,
    });
    expect(program.requests.findIndex(isOf('/adjustment'))).toBeLessThan(
      program.requests.findIndex(isOf('/commands/')),
    );
    expect(program.printed()).toContain('waiting for another approver');
    // The command line died between the two: the break has the adjustment, the ledger has no order.
    const pending = { ...order, ...noted, amount: '-12.5', status: 'proposed', concludedAt: null };
    const known = { ...pending, proposedBy: 'ama', proposedAt: order.requestedAt };
    const again = commandLine((at) =>
      at.startsWith('http://ledger') ? answer(order, 202) : answer({ ...whole, adjustments: [known] }),
    );
    expect(await again.run(...suspense)).toBe(0);
    expect(bodyOf(again, '/commands/suspense')?.['commandId']).toBe(noted?.['commandId']);
    const other = commandLine([answer({ ...whole, adjustments: [known] })]);
    expect(await other.run(...suspense.map((word) => (word === '-12.50' ? '+1' : word)))).toBe(1);
    expect(other.complained()).toMatch(/^pesewa: another adjustment of .* waits: approve it, or reject it/);
    expect(other.requests).toEqual([url]);
    // The order before was refused, so the next one is a new order.
    const refused = commandLine((at) =>
      at.startsWith('http://ledger')
        ? answer(order, 202)
        : answer({ ...whole, adjustments: [{ ...known, status: 'refused' }] }),
    );
    expect(await refused.run(...suspense)).toBe(0);
    expect(bodyOf(refused, '/adjustment')?.['commandId']).not.toBe(noted?.['commandId']);
  });

  it("is of a merchant's wallet as well", async () => {
    const program = commandLine((at) =>
      at.startsWith('http://ledger') ? answer(order, 202) : answer(whole),
    );
    const call = ['--wallet', 'demo', '--amount', '+3', '--reason', 'paid after all'];
    expect(await program.run('reconcile', 'breaks', 'adjust', row.id, ...call)).toBe(0);
    expect(bodyOf(program, '/adjustment')).toMatchObject({ merchantId: 'demo', amount: '+3' });
    expect(bodyOf(program, '/commands/adjust')).toMatchObject({ merchantId: 'demo', direction: 'credit' });
  });

  it.each([
    ['can not read', 400, 'invalid', true],
    ['can not place anywhere', 409, 'unknown_rail', true],
    ['has already', 409, 'duplicate', false],
  ])('waits only for an order that may be there: what the ledger %s', async (_what, status, code, isOver) => {
    const refusal = { code, message: 'rail: there is none' };
    const program = commandLine((at) =>
      at.startsWith('http://ledger') ? answer(refusal, status) : answer(whole),
    );
    expect(await program.run(...suspense)).toBe(1);
    const { commandId } = bodyOf(program, '/adjustment') ?? {};
    expect(bodyOf(program, '/withdraw')).toEqual(isOver ? { commandId } : undefined);
  });

  it('may wait for what the ledger did not answer', async () => {
    const silent = commandLine((at) => (at.startsWith('http://ledger') ? answer({}, 503) : answer(whole)));
    expect(await silent.run(...suspense)).toBe(1);
    expect(silent.complained()).toMatch(/it may have been taken: repeat the same call\n$/);
    expect(bodyOf(silent, '/withdraw')).toBeUndefined();
  });

  it.each<[string, readonly string[], object, string]>([
    ['neither account', ['--amount', '+1'], {}, 'say which account to correct'],
    [
      'both accounts',
      ['--wallet', 'demo', '--suspense', '--amount', '+1'],
      {},
      'say which account to correct',
    ],
    ['no sign', ['--suspense', '--amount', '1'], {}, '--amount: 1 says no direction'],
    [
      'no currency',
      ['--suspense', '--amount', '+1'],
      { currency: null },
      '--currency: upstream:GHS/balance has none',
    ],
    [
      'no rail',
      ['--suspense', '--amount', '+1'],
      { rail: null },
      '--suspense: upstream:GHS/balance has no rail',
    ],
    [
      'a resolved break',
      ['--suspense', '--amount', '+1'],
      { status: 'resolved' },
      'upstream:GHS/balance is resolved',
    ],
  ])('names the option for %s', async (_name, call, change, message) => {
    const program = commandLine([answer({ ...whole, ...change })]);
    expect(await program.run('reconcile', 'breaks', 'adjust', row.id, ...call, '--reason', 'x')).toBe(1);
    expect(program.complained()).toContain(message);
    expect(program.requests).toEqual([url]);
  });

  it.each<[string, OperationsAnswer, string | null]>([
    ['rejected', answer({ ...order, status: 'rejected' }), null],
    ['refused', answer({ ...order, status: 'refused' }), null],
    ['expired', answer({ ...order, expiresAt: '1969-12-31T00:00:00.000Z' }), null],
    ['proposed', answer(order), 'can still be approved: reject it first'],
    ['approved', answer({ ...order, status: 'approved' }), 'is approved: the break follows by itself'],
    ['never ordered', answer({ message: 'none' }, 404), 'was never ordered: repeat'],
  ])('is withdrawn once its order is over: %s', async (_name, ordered, why) => {
    const pending = { ...order, proposedBy: 'ama', proposedAt: order.requestedAt, concludedAt: null };
    const program = commandLine((at) =>
      at.startsWith('http://ledger') ? ordered : answer({ ...whole, adjustments: [pending] }),
    );
    expect(await program.run('reconcile', 'breaks', 'withdraw', row.id)).toBe(why === null ? 0 : 1);
    expect(program.complained()).toContain(why === null ? '' : `bk-1 ${why}`);
    expect(bodyOf(program, '/withdraw')).toEqual(why === null ? { commandId: 'bk-1' } : undefined);
  });
});

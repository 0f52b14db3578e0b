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
  corrections: [],
  history: [
    { at: '2026-11-01T08:00:00.000Z', by: null, what: 'opened', text: null, amount: '-12.5' },
    { at: '2026-11-02T08:00:00.000Z', by: 'kofi', what: 'assigned', text: 'ama', amount: null },
  ],
};
const order = {
  commandId: 'cm-9',
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
    const program = commandLine([answer(whole)]);
    expect(await program.run('reconcile', 'breaks', 'show', row.id)).toBe(0);
    expect(program.requests).toEqual([url]);
    expect(program.printed().split('\n')).toEqual(
      expect.arrayContaining([
        'kind           wallet: drift',
        'difference     -12.50 GHS',
        'owner          ama',
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

  /** What both services answer, with the orders that the ledger has for the break. */
  const answers =
    (orders: readonly object[] = [], taken = answer(order, 202)) =>
    (at: string) => {
      if (at.includes('/commands?breakId=')) return answer({ items: orders, next: null });
      return at.startsWith('http://ledger') ? taken : answer(whole);
    };

  it('is an order that names it, once however often it is repeated', async () => {
    const program = commandLine(answers());
    expect(await program.run(...suspense)).toBe(0);
    const ordered = bodyOf(program, '/commands/suspense');
    expect(ordered).toEqual({
      rail: 'upstream',
      commandId: expect.stringMatching(/^bk-[0-9a-f]{48}$/) as unknown,
      currency: 'GHS',
      amount: '12.5',
      direction: 'shortage',
      reason: 'lost',
      breakId: row.id,
    });
    expect(program.printed()).toContain('waiting for another approver');
    const commandIdWith = async (orders: readonly object[]) => {
      const again = commandLine(answers(orders));
      expect(await again.run(...suspense)).toBe(0);
      return bodyOf(again, '/commands/suspense')?.['commandId'];
    };
    // The answer was lost: the ledger has the order, whether or not its entry has reached the break.
    for (const status of ['proposed', 'approved', 'applied'])
      expect(await commandIdWith([{ ...order, status }])).toBe('cm-9');
    // The order before is over, so the next one is a new order.
    for (const over of [{ status: 'refused' }, { status: 'rejected' }, { expiresAt: '1969-12-31T00:00:00Z' }])
      expect(await commandIdWith([{ ...order, ...over }])).not.toBe('cm-9');
    const duplicate = answer({ code: 'duplicate', message: 'commandId was used before' }, 409);
    const other = commandLine(answers([order], duplicate));
    expect(await other.run(...suspense)).toBe(1);
    expect(other.complained()).toMatch(/^pesewa: another order for .* waits: approve it, or reject it/);
  });

  it("is of a merchant's wallet as well", async () => {
    const program = commandLine(answers());
    const call = ['--wallet', 'demo', '--amount', '+3', '--reason', 'paid after all'];
    expect(await program.run('reconcile', 'breaks', 'adjust', row.id, ...call)).toBe(0);
    const ordered = { merchantId: 'demo', amount: '3', direction: 'credit', breakId: row.id };
    expect(bodyOf(program, '/commands/adjust')).toMatchObject(ordered);
  });

  it('may wait for what the ledger did not answer', async () => {
    const silent = commandLine(answers([], answer({}, 503)));
    expect(await silent.run(...suspense)).toBe(1);
    expect(silent.complained()).toMatch(/it may have been taken: repeat the same call\n$/);
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
    [
      'an open payment',
      ['--suspense', '--amount', '+1'],
      { waitsFor: 'end' },
      'upstream:GHS/balance waits for the end of its payment',
    ],
  ])('names the option for %s', async (_name, call, change, message) => {
    const program = commandLine([answer({ ...whole, ...change })]);
    expect(await program.run('reconcile', 'breaks', 'adjust', row.id, ...call, '--reason', 'x')).toBe(1);
    expect(program.complained()).toContain(message);
    expect(program.requests).toEqual([url]);
  });
});

import { describe, expect, it } from 'vitest';
import { unknownSides } from './breaks.fixture.ts';
import { commandLine } from './program.fixture.ts';

const row = {
  id: 'po-1/status',
  kind: 'payment.stuck',
  reference: 'po-1',
  rail: 'upstream',
  status: 'open',
  currency: 'GHS',
  amount: '12.5',
  detail: 'no end after many polls',
  owner: null,
  explanation: null,
  openedAt: '2026-11-01T08:00:00.000Z',
  since: '2026-11-01T08:00:00.000Z',
  resolvedAt: null,
  resolution: null,
  resolvedBy: null,
  version: 3,
};
const whole = {
  ...row,
  observations: [],
  corrections: [],
  history: [],
};
const proposedResolution = { by: 'ama', at: '2026-11-03T08:00:00.000Z', resolution: 'paid back' };
const APPROVAL = 'pesewa reconcile breaks resolve po-1/status --approve ama --seen 3';
/** As `show` gives it: a change answers without what both sides have. */
const shown = { ...whole, ...unknownSides };
const ok = (body: unknown) => ({ status: 200, body });

describe('a list of breaks', () => {
  it('says so where there are more than it shows', async () => {
    const cut = commandLine([ok({ items: [row], next: '5.x/y' })]);
    expect(await cut.run('reconcile', 'breaks', 'list', '--limit', '1')).toBe(0);
    expect(cut.printed()).toContain(
      'there are more: raise --limit, or write all of them with pesewa reconcile breaks export breaks.csv\n',
    );
    const all = commandLine([ok({ items: [row], next: null })]);
    await all.run('reconcile', 'breaks', 'list', '--limit', '1');
    expect(all.printed()).not.toContain('there are more');
  });

  it('says so where there are none', async () => {
    const line = commandLine([ok({ items: [], next: null })]);
    expect(await line.run('reconcile', 'breaks')).toBe(0);
    expect(line.printed()).toBe('no such breaks\n');
  });
});

it.each([
  [[], 1],
  [['--dry-run'], 0],
] as const)('a change prints the break as JSON as well: %j', async (options, posts) => {
  const answered = posts === 0 ? shown : row;
  const line = commandLine([ok(answered)]);
  expect(await line.run('reconcile', 'breaks', 'assign', row.id, 'ama', '--json', ...options)).toBe(0);
  expect(JSON.parse(line.printed())).toEqual(answered);
  expect(line.requests.filter((one) => typeof one === 'object')).toHaveLength(posts);
});

it('the details of a break name the commands that show more', async () => {
  const program = commandLine([ok(shown)]);
  await program.run('reconcile', 'breaks', 'show', row.id);
  expect(program.printed().split('\nmore\n')[1]).toBe(
    [
      '  pesewa timeline po-1',
      '  pesewa reconcile breaks list --status all --reference po-1',
      '  pesewa decisions list --reference po-1',
      '  pesewa callbacks about po-1',
      '  pesewa webhooks list po-1',
      '  pesewa orders list --break-id po-1/status',
      '',
    ].join('\n'),
  );
});

it('the details of a break have both sides, the difference, the lines that say so, and what books it', async () => {
  const line = { statement: 'st-1', line: 17, receipt: 'MP2' };
  const sides = { ours: '100', theirs: '112.5', lines: [line], floatChange: '-12.5' };
  const program = commandLine([ok({ ...shown, id: 'po-1/amount', ...sides })]);
  await program.run('reconcile', 'breaks', 'show', 'po-1/amount');
  for (const said of [
    'ours           100.00 GHS\n',
    'theirs         112.50 GHS\n',
    'difference     +12.50 GHS\n',
    'found in       statement st-1, line 17, receipt MP2\n',
    'to book it     pesewa reconcile breaks adjust po-1/amount --suspense --amount -12.5 --reason "…" --dry-run\n',
  ])
    expect(program.printed()).toContain(said);
});

it('of much money is said to wait for an approver', async () => {
  const program = commandLine([ok({ ...whole, proposedResolution })]);
  expect(await program.run('reconcile', 'breaks', 'resolve', row.id, 'paid back')).toBe(0);
  expect(program.printed()).toContain(
    `it is of so much money that an approver must approve that, with ${APPROVAL}\n`,
  );
  const details = commandLine([ok({ ...shown, proposedResolution })]);
  expect(await details.run('reconcile', 'breaks', 'show', row.id)).toBe(0);
  expect(details.printed()).toContain('ama would resolve it since 2026-11-03T08:00:00.000Z: paid back\n');
  expect(details.printed()).toContain(`${APPROVAL}\n`);
});

it('is resolved as another operator proposed or by words of one’s own, and not by both', async () => {
  const resolve = ['reconcile', 'breaks', 'resolve', row.id];
  for (const neitherOrBoth of [[], ['paid back', '--approve', 'ama']]) {
    const refused = commandLine([]);
    expect(await refused.run(...resolve, ...neitherOrBoth)).toBe(1);
    expect(refused.complained()).toContain('say what became of it, or --approve whose words you approve');
  }
});

describe('a proposal to resolve a break', () => {
  const url = 'http://reconciler/breaks/po-1%2Fstatus';
  const proposed = { ...shown, proposedResolution };

  const approve = ['reconcile', 'breaks', 'resolve', row.id, '--approve', 'ama'];
  const reject = ['reconcile', 'breaks', 'reject', row.id, 'ask the rail first'];

  it('is approved as it was seen, and not as it is now', async () => {
    const program = commandLine([ok({ ...whole, version: 4 })]);
    expect(await program.run(...approve, '--seen', '3')).toBe(0);
    expect(program.requests).toMatchObject([
      { url: `${url}/resolve`, body: { approves: 'ama', version: 3 } },
    ]);
  });

  it.each([[[]], [['--json']]])(
    'is shown with its version, and not approved, if none was seen: %j',
    async (options) => {
      const program = commandLine([ok(proposed)]);
      expect(await program.run(...approve, ...options)).toBe(1);
      expect(program.requests).toEqual([url]);
      expect(program.printed()).toContain('paid back');
      expect(program.printed()).toContain(options.length > 0 ? '"version": 3' : `${APPROVAL}\n`);
      expect(program.complained()).toContain('--seen: nothing was approved');
    },
  );

  it('that nobody made is not approved', async () => {
    const program = commandLine([ok(shown)]);
    expect(await program.run(...approve)).toBe(1);
    expect(program.complained()).toContain(`nobody has proposed to resolve ${row.id}`);
  });

  it('is rejected as it is shown', async () => {
    const program = commandLine([ok(proposed), ok({ ...whole, version: 4 })]);
    expect(await program.run(...reject)).toBe(0);
    const body = { reason: 'ask the rail first', version: 3 };
    expect(program.requests).toMatchObject([url, { url: `${url}/resolve/reject`, body }]);
    expect(program.printed()).toContain('ama would resolve it since 2026-11-03T08:00:00.000Z: paid back');
  });

  it.each([[[...approve, '--seen', '3']], [approve], [reject]])('stays with --dry-run: %j', async (call) => {
    const dry = commandLine([ok(proposed)]);
    expect(await dry.run(...call, '--dry-run')).toBe(0);
    expect(dry.requests).toEqual([url]);
    expect(dry.printed()).toContain('nothing was changed\n');
  });
});

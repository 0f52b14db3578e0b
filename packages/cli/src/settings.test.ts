import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';
import { appliedChange, priceChange, takenChange } from './settings.fixture.ts';

const ok = (body: object) => ({ status: 200, body });
const setWallet = [
  'merchants',
  'set-wallet',
  'demo',
  'GHS',
  'Ghana',
  '--payout-fee',
  'percent=1.5,max=1234.50',
];
const lines = ['  GHS payout fee           1% → 1.5%', '  GHS payout fee, at most  none → 1,234.50 GHS'];

describe('a change of settings', () => {
  it('is proposed, and says from what to what and who must approve', async () => {
    const line = commandLine([takenChange()]);
    expect(await line.run(...setWallet, '--reason', 'contract')).toBe(0);
    expect(line.requests).toEqual([
      {
        url: 'http://ledger/merchants/demo/changes/wallet',
        token: 'operator-token-of-tests',
        body: {
          currency: 'GHS',
          country: 'GHA',
          payoutFee: { percent: '1.5', max: '1234.5' },
          reason: 'contract',
        },
      },
    ]);
    expect(line.printed()).toBe(
      [
        'proposed sc-1: wallet of demo, asked for by ama',
        ...lines,
        'waiting for another approver until 2026-01-09T03:04:05.000Z: pesewa settings approve sc-1',
        '',
      ].join('\n'),
    );
  });

  it('is shown with --dry-run, and only asked about', async () => {
    const line = commandLine([ok({ fields: priceChange.fields })]);
    expect(await line.run(...setWallet, '--dry-run')).toBe(0);
    expect(line.requests).toMatchObject([{ body: { dryRun: true } }]);
    expect(line.printed()).toBe(['would change demo:', ...lines, 'nothing was changed', ''].join('\n'));
  });

  it("is approved with --approve by the other operator's token, after what was made is shown", async () => {
    const line = commandLine([
      takenChange({ kind: 'add-key' }, { publicKey: 'a-new-key-shown-once' }),
      ok(appliedChange),
    ]);
    expect(await line.run('keys', 'add', 'demo', '--scope', 'payouts', '--approve')).toBe(0);
    expect(line.requests).toMatchObject([
      { url: 'http://ledger/merchants/demo/changes/add-key', token: 'operator-token-of-tests' },
      { url: 'http://ledger/changes/sc-1/approve', token: 'approver-token-of-tests' },
    ]);
    expect(line.printed()).toMatch(/^public key {5}a-new-key-shown-once\napplied sc-1: .*approved by kofi\n/);
  });

  it('whose approval is refused has shown what was made for it', async () => {
    const stale = { code: 'stale', message: 'webhooks.secret was changed since this was proposed' };
    const made = { webhookSecret: 'whsec_shown' };
    const line = commandLine([takenChange({ kind: 'webhooks' }, made), { status: 409, body: stale }]);
    expect(await line.run('merchants', 'set-webhooks', 'demo', '--rotate-secret', '--approve')).toBe(1);
    expect(line.printed()).toContain('whsec_shown');
    expect(line.complained()).toBe(`pesewa: ledger: ${stale.message}\n`);
  });

  it('by one operator is done at once', async () => {
    const done = takenChange({ kind: 'suspend', status: 'applied', fields: [], expiresAt: undefined });
    const line = commandLine([{ ...done, status: 201 }]);
    expect(await line.run('merchants', 'suspend', 'demo')).toBe(0);
    expect(line.printed()).toBe(
      'applied sc-1: suspend of demo, asked for by ama\nseen everywhere within five seconds\n',
    );
  });

  it('without an answer says where to look', async () => {
    const line = commandLine([{ status: 503, body: { message: 'it is not there' } }]);
    expect(await line.run(...setWallet)).toBe(1);
    expect(line.complained()).toBe(
      'pesewa: ledger: it is not there; it may have been taken: see pesewa merchants history demo\n',
    );
  });
});

describe('settings', () => {
  it('are listed with who asked and who decided', async () => {
    const line = commandLine([ok({ items: [appliedChange], next: null })]);
    expect(await line.run('settings', 'list', '--merchant', 'demo', '--status', 'applied')).toBe(0);
    expect(line.requests).toEqual(['http://ledger/changes?status=applied&merchant=demo']);
    for (const shown of ['sc-1', 'applied', 'GHS payout fee and 1 more', 'ama', 'kofi'])
      expect(line.printed()).toContain(shown);
  });

  it('are shown with everything that is known of a change', async () => {
    const line = commandLine([ok(appliedChange)]);
    expect(await line.run('settings', 'show', 'sc-1')).toBe(0);
    expect(line.printed()).toBe(
      [
        'change         sc-1',
        'status         applied',
        'of             demo: wallet',
        'reason         contract',
        'asked for by   ama at 2026-01-02T03:04:05.000Z',
        'approved by    kofi',
        'applied at     2026-01-02T04:04:05.000Z',
        'approve until  2026-01-09T03:04:05.000Z',
        ...lines,
        '',
      ].join('\n'),
    );
  });

  it.each([
    [['approve', 'sc-1'], ok(appliedChange), ['http://ledger/changes/sc-1/approve'], 'approved by kofi'],
    [
      ['approve', 'sc-1', '--dry-run'],
      ok(priceChange),
      ['http://ledger/changes/sc-1'],
      'nothing was approved',
    ],
    [
      ['reject', 'sc-1', '--reason', 'no'],
      ok({ ...priceChange, status: 'rejected' }),
      ['http://ledger/changes/sc-1/reject'],
      'rejected sc-1',
    ],
    [
      ['reject', 'sc-1', '--reason', 'no', '--dry-run'],
      ok(priceChange),
      ['http://ledger/changes/sc-1'],
      'nothing was rejected',
    ],
  ])('%j', async (call, given, urls, said) => {
    const line = commandLine([given]);
    expect(await line.run('settings', ...call)).toBe(0);
    const asked = line.requests.map((one) => (typeof one === 'string' ? one : (one as { url: string }).url));
    expect(asked).toEqual(urls);
    expect(line.printed()).toContain(said);
  });
});

describe('of a merchant', () => {
  it('all settings are shown in words, amounts with grouped digits', async () => {
    const settings = [
      { field: 'keys.3fa9c2d1e0b4', value: 'valid', currency: null },
      { field: 'wallets.GHS.country', value: 'GHA', currency: null },
      { field: 'wallets.GHS.collectionFee.min', value: '0.1', currency: 'GHS' },
      { field: 'limits.perDayMax.GHS', value: '50000', currency: 'GHS' },
      { field: 'limits.requestsPerSecond', value: '50', currency: null },
    ];
    const line = commandLine([ok({ merchantId: 'demo', settings })]);
    expect(await line.run('merchants', 'show', 'demo')).toBe(0);
    expect(line.printed()).toBe(
      [
        'SETTING                       VALUE',
        'key 3fa9c2d1e0b4…             valid',
        'GHS wallet, country           GHA',
        'GHS collection fee, at least  0.10 GHS',
        'payouts of a day, GHS         50,000.00 GHS',
        'requests per second           50',
        '',
      ].join('\n'),
    );
  });

  it('the history says who, when, why, and from what to what', async () => {
    const line = commandLine([ok({ items: [appliedChange], next: null })]);
    expect(await line.run('merchants', 'history', 'demo')).toBe(0);
    for (const shown of ['ama at', 'kofi', 'contract', ...lines]) expect(line.printed()).toContain(shown);
  });

  it.each([['show'], ['history']])('%s prints JSON as the service gives it', async (name) => {
    const body =
      name === 'show' ? { merchantId: 'demo', settings: [] } : { items: [appliedChange], next: null };
    const line = commandLine([ok(body)]);
    expect(await line.run('merchants', name, 'demo', '--json')).toBe(0);
    expect(JSON.parse(line.printed())).toEqual(name === 'show' ? body : [appliedChange]);
  });
});

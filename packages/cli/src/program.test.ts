import { describe, expect, it } from 'vitest';
import { commandLine, fee } from './program.fixture.ts';

describe('merchants', () => {
  it('are listed as a table', async () => {
    const line = commandLine();
    expect(await line.run('merchants', 'list')).toBe(0);
    expect(line.printed()).toBe(
      [
        'MERCHANT  NAME           STATUS  WALLETS  KEYS  REQUESTS/S  PAYOUT WEBHOOKS',
        'demo      Demo Merchant  active  GHS      1     50          https://shop.example/payouts',
        '',
      ].join('\n'),
    );
  });

  it('are listed as JSON without secrets and with exact amounts', async () => {
    const line = commandLine();
    await line.run('merchants', 'list', '--json');
    expect(line.printed()).toContain('"GHS": 9007199254740993');
    expect(line.printed()).not.toContain('whsec_');
  });

  it('are created with wallets and prices', async () => {
    const line = commandLine();
    const wallet = ['--wallet', 'ghs:Ghana', '--payout-fee', 'percent=1.5,fixed=0.50,max=20'];
    expect(await line.run('merchants', 'create', 'shop', '--name', 'Shop', ...wallet)).toBe(0);
    expect(line.changes).toEqual([
      [
        'createMerchant',
        {
          id: 'shop',
          name: 'Shop',
          publicKey: undefined,
          wallets: [
            {
              currency: 'GHS',
              country: 'GHA',
              payoutFee: { basisPoints: 150n, fixedMinor: 50n, minimumMinor: 0n, maximumMinor: 2_000n },
              collectionFee: fee,
            },
          ],
          payoutsUrl: undefined,
          collectionsUrl: undefined,
          limits: { requestsPerSecond: 100 },
        },
      ],
    ]);
    expect(line.printed()).toContain('the-public-key-itself');
  });

  it.each([
    [['--wallet', 'GHS'], '--wallet: GHS is malformed: write currency:country, such as GHS:GHA'],
    [['--wallet', 'GHX:GHA'], 'currency: GHX is no currency: write an ISO 4217 code such as GHS'],
    [
      ['--wallet', 'XOF:CIV', '--payout-fee', 'fixed=0.5'],
      '--payout-fee fixed: 0.5 is no amount: write a decimal number no finer than XOF allows',
    ],
    [
      ['--wallet', 'GHS:GHA', '--payout-fee', '101'],
      '--payout-fee: 101 is no percentage: write 0 to 100 with at most two decimals',
    ],
    [['--requests-per-second', '0'], '--requests-per-second: 0 is no count: write a whole number from 1'],
  ])('are refused with %j', async (options, message) => {
    const line = commandLine();
    expect(await line.run('merchants', 'create', 'shop', '--name', 'Shop', ...options)).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
    expect(line.changes).toEqual([]);
  });

  it('keep the webhook address that is not given', async () => {
    const line = commandLine();
    await line.run(
      'merchants',
      'set-webhooks',
      'demo',
      '--collections-url',
      'https://shop.example/collections',
    );
    const urls = {
      payoutsUrl: 'https://shop.example/payouts',
      collectionsUrl: 'https://shop.example/collections',
    };
    expect(line.changes).toEqual([['setWebhooks', 'demo', urls]]);
  });

  it('that do not exist are named', async () => {
    const line = commandLine();
    expect(await line.run('merchants', 'suspend', 'nobody')).toBe(1);
    expect(line.complained()).toBe('pesewa: there is no merchant nobody\n');
  });
});

describe('keys', () => {
  it('are removed by their hash, or hashed first', async () => {
    const line = commandLine();
    await line.run('keys', 'remove', 'demo', 'cd'.repeat(32));
    await line.run('keys', 'remove', 'demo', 'demo-public-key-for-development');
    const [, second] = line.changes as [unknown, [string, string, string]];
    expect(line.changes[0]).toEqual(['removeKey', 'demo', 'cd'.repeat(32)]);
    expect(second[2]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('fund', () => {
  const pending = { status: 200, body: { commandId: 'cm-1', status: 'pending' } };
  const applied = { status: 200, body: { commandId: 'cm-1', status: 'applied' } };
  const taken = { status: 202, body: { commandId: 'cm-1' } };

  it('waits until the ledger has applied the order', async () => {
    const line = commandLine([taken, pending, applied]);
    expect(await line.run('fund', 'wallet', 'demo', 'ghs', '2500.50')).toBe(0);
    const body = {
      merchantId: 'demo',
      commandId: 'cm-1',
      currency: 'GHS',
      amount: '2500.50',
      requestedBy: 'ama',
    };
    expect(line.requests).toEqual([
      { url: 'http://ledger/commands/fund', token: 'operator-token-of-tests', body },
      'http://ledger/commands/cm-1',
      'http://ledger/commands/cm-1',
    ]);
    expect(line.printed()).toBe(
      'put 2500.50 GHS into the GHS wallet of demo, asked by ama: applied as cm-1\n',
    );
  });

  it('of a float goes to the rail', async () => {
    const line = commandLine([taken, applied]);
    await line.run('fund', 'float', 'upstream', 'XOF', '100', '--by', 'kofi');
    const body = { rail: 'upstream', commandId: 'cm-1', currency: 'XOF', amount: '100', requestedBy: 'kofi' };
    expect(line.requests[0]).toEqual({
      url: 'http://ledger/commands/fund-float',
      token: 'operator-token-of-tests',
      body,
    });
  });

  it('sends nothing in a dry run', async () => {
    const line = commandLine();
    expect(await line.run('fund', 'wallet', 'demo', 'GHS', '1', '--dry-run')).toBe(0);
    expect(line.requests).toEqual([]);
    expect(line.printed()).toContain('nothing was sent');
  });

  it('says how to go on when the order is not applied in time', async () => {
    const line = commandLine([taken, pending]);
    expect(await line.run('fund', 'wallet', 'demo', 'GHS', '1')).toBe(1);
    expect(line.complained()).toContain('--command-id cm-1');
  });

  it.each([
    [
      ['demo', 'GHS', '0'],
      "amount: 0 can't be moved: write a positive decimal number no finer than GHS allows",
    ],
    [
      ['demo', 'GHS', '1.001'],
      "amount: 1.001 can't be moved: write a positive decimal number no finer than GHS allows",
    ],
    [['demo', 'KES', '1'], 'currency: demo has no KES wallet: add it with merchants set-wallet'],
    [['nobody', 'GHS', '1'], 'merchant: there is no nobody: see merchants list'],
  ])('of %j is refused before anything is sent', async (call, message) => {
    const line = commandLine([taken, applied]);
    expect(await line.run('fund', 'wallet', ...call)).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
    expect(line.requests).toEqual([]);
  });
});

describe('showing', () => {
  it('prints the balance of every wallet of the merchant; an untouched one is empty', async () => {
    const line = commandLine();
    await line.run('balance', 'demo');
    expect(line.requests).toEqual(['http://ledger/accounts/demo/GHS']);
    expect(line.printed()).toBe('CURRENCY  AVAILABLE  HELD  SEQUENCE\nGHS       0          0     0\n');
  });

  it('marks a drift that nothing explains', async () => {
    const item = {
      at: '2026-01-01T00:00:00.000Z',
      rail: 'upstream',
      currency: 'GHS',
      railBalance: '90',
      float: '100',
      drift: '-10',
    };
    const line = commandLine([
      { status: 200, body: { items: [{ ...item, withinRange: false }], next: null } },
    ]);
    await line.run('drift');
    expect(line.printed()).toContain('-10    NO');
  });

  it('passes on the refusal of a service with its path', async () => {
    const line = commandLine();
    expect(await line.run('timeline', 'po-1')).toBe(1);
    expect(line.complained()).toBe('pesewa: /timeline?reference=po-1 answered 404: there is nothing\n');
  });
});

it('answers a wrong call with one line', async () => {
  const line = commandLine();
  expect(await line.run('fund', 'wallet', 'demo')).toBe(1);
  expect(line.complained()).toBe("pesewa: missing required argument 'currency': see --help\n");
});

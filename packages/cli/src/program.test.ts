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

describe('showing', () => {
  it('prints the balance of every wallet of the merchant; an untouched one is empty', async () => {
    const line = commandLine();
    await line.run('balance', 'demo');
    expect(line.requests).toEqual(['http://ledger/accounts/demo/GHS']);
    expect(line.printed()).toBe('AVAILABLE      HELD  SEQUENCE\n 0.00 GHS  0.00 GHS         0\n');
  });

  it.each([
    [[], 'no orders yet\n'],
    [['--status', 'proposed'], 'no such orders\n'],
  ])('says that there are no orders: %j', async (filters, said) => {
    const line = commandLine([{ status: 200, body: { items: [], next: null } }]);
    expect(await line.run('orders', 'list', ...filters)).toBe(0);
    expect(line.printed()).toBe(said);
  });

  it('passes on the refusal of a service, without its path', async () => {
    const line = commandLine();
    expect(await line.run('callbacks', 'po-1')).toBe(1);
    expect(line.complained()).toBe('pesewa: webhook-ingress: there is nothing\n');
  });
});

it('answers a wrong call with one line', async () => {
  const line = commandLine();
  expect(await line.run('fund', 'wallet', 'demo')).toBe(1);
  expect(line.complained()).toBe("pesewa: missing required argument 'currency': see --help\n");
});

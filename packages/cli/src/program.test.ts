import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';
import { takenChange } from './settings.fixture.ts';

describe('merchants', () => {
  it('are listed as a table', async () => {
    const line = commandLine();
    expect(await line.run('merchants', 'list')).toBe(0);
    expect(line.printed()).toBe(
      [
        'MERCHANT  NAME           STATUS  WALLETS  KEYS  REQUESTS/S  PAYOUT WEBHOOKS',
        'demo      Demo Merchant  active  GHS      2     50          https://shop.example/payouts',
        '',
      ].join('\n'),
    );
  });

  it('are listed as JSON without secrets and with exact amounts', async () => {
    const line = commandLine();
    await line.run('merchants', 'list', '--json');
    expect(line.printed()).toContain('"GHS": 9007199254740993');
    expect(line.printed()).not.toMatch(/whsec_|rqsec_/);
  });

  it('are created with wallets and prices, and their key and secret are shown', async () => {
    const made = {
      publicKeys: { payouts: 'the-public-key-itself', collections: 'the-other-public-key' },
      webhookSecret: 'whsec_new',
    };
    const line = commandLine([{ ...takenChange({ kind: 'create', status: 'applied' }, made), status: 201 }]);
    const wallet = ['--wallet', 'ghs:Ghana', '--payout-fee', 'percent=1.5,fixed=0.50,max=20'];
    expect(await line.run('merchants', 'create', 'shop', '--name', 'Shop', ...wallet)).toBe(0);
    const [request] = line.requests as [{ readonly url: string; readonly body: object }];
    expect([request.url, JSON.parse(JSON.stringify(request.body))]).toEqual([
      'http://ledger/merchants',
      {
        merchantId: 'shop',
        name: 'Shop',
        wallets: [
          {
            currency: 'GHS',
            country: 'GHA',
            payoutFee: { percent: '1.5', fixed: '0.5', max: '20' },
            collectionFee: { percent: '1' },
          },
        ],
        limits: {},
      },
    ]);
    for (const shown of ['the-public-key-itself', 'the-other-public-key', 'whsec_new'])
      expect(line.printed()).toContain(shown);
  });

  it.each([
    [['--wallet', 'GHS'], '--wallet: GHS is malformed: write currency:country, such as GHS:GHA'],
    [['--wallet', 'GHX:GHA'], 'currency: GHX is no currency: write an ISO 4217 code such as GHS'],
    [
      ['--wallet', 'XOF:CIV', '--payout-fee', 'fixed=0.5'],
      '--payout-fee fixed: 0.5 must have no decimals in XOF',
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
    expect(line.requests).toEqual([]);
  });

  it('keep the webhook address that is not given', async () => {
    const line = commandLine([takenChange()]);
    const collectionsUrl = 'https://shop.example/collections';
    await line.run('merchants', 'set-webhooks', 'demo', '--collections-url', collectionsUrl);
    expect(line.requests).toMatchObject([
      { url: 'http://ledger/merchants/demo/changes/webhooks', body: { collectionsUrl } },
    ]);
    expect(JSON.stringify(line.requests)).not.toContain('payoutsUrl');
  });

  it.each([
    ['https://inner.example/', '10.0.0.1, which is not public; webhooks wait until that changes\n'],
    ['https://unknown.example/', 'know no unknown.example; webhooks wait until that changes\n'],
    ['https://shop.example/', ''],
    ['none', ''],
  ])('warn of a webhook address that leads nowhere from here: %s', async (url, warning) => {
    const line = commandLine([takenChange({ kind: 'webhooks' })]);
    expect(await line.run('merchants', 'set-webhooks', 'demo', '--payouts-url', url)).toBe(0);
    expect(line.complained().slice(-warning.length || Infinity)).toBe(warning);
    expect(line.requests).toMatchObject([{ body: { payoutsUrl: url === 'none' ? null : url } }]);
  });

  it.each([
    ['--rotate-secret', '--grace', '169'],
    ['--rotate-secret', '--grace', '1.5'],
    ['--payouts-url', 'none', '--grace', '1'],
  ])('refuse a grace time that is none: %s %s %s', async (...given) => {
    const line = commandLine();
    expect(await line.run('merchants', 'set-webhooks', 'demo', ...given)).toBe(1);
    expect(line.complained()).toMatch(/^pesewa: --grace: /);
    expect(line.requests).toEqual([]);
  });

  it('ask for the grace time that is given', async () => {
    const line = commandLine([takenChange({ kind: 'webhooks' })]);
    expect(await line.run('merchants', 'set-webhooks', 'demo', '--rotate-secret', '--grace', '0')).toBe(0);
    expect(line.requests).toMatchObject([{ body: { rotateSecret: true, graceHours: 0 } }]);
  });

  it('that do not exist are named', async () => {
    const refusal = { code: 'not_found', message: 'there is no merchant nobody' };
    const line = commandLine([{ status: 404, body: refusal }]);
    expect(await line.run('merchants', 'suspend', 'nobody')).toBe(1);
    expect(line.complained()).toBe('pesewa: ledger: there is no merchant nobody\n');
  });
});

describe('keys', () => {
  it.each([
    ['cd'.repeat(32), 'cd'.repeat(32)],
    ['3fa9c2d1e0b4', '3fa9c2d1e0b4'],
    [
      'demo-public-key-for-development',
      createHash('sha256').update('demo-public-key-for-development').digest('hex'),
    ],
  ])('are removed by their hash, or hashed first: %s', async (key, keyHash) => {
    const line = commandLine([{ ...takenChange({ kind: 'remove-key', status: 'applied' }), status: 201 }]);
    expect(await line.run('keys', 'remove', 'demo', key)).toBe(0);
    expect(line.requests).toMatchObject([
      { url: 'http://ledger/merchants/demo/changes/remove-key', body: { keyHash } },
    ]);
  });

  it('are listed with what they are for and until when', async () => {
    const line = commandLine();
    await line.ports.clock.sleep(1);
    expect(await line.run('keys', 'list', 'demo')).toBe(0);
    expect(line.printed()).toBe(
      [
        'KEY           FOR          STATE    CREATED                   EXPIRES',
        'abababababab  payouts      live     1970-01-01T00:00:00.000Z  never',
        'cdcdcdcdcdcd  collections  expired  1970-01-01T00:00:00.000Z  1970-01-01T00:00:00.001Z',
        '',
      ].join('\n'),
    );
  });

  it('are proposed for what is named, until then, and shown', async () => {
    const made = { publicKey: 'a-public-key-that-was-made' };
    const line = commandLine([takenChange({ kind: 'add-key' }, made)]);
    const options = ['--scope', 'payouts', 'collections', '--expires', '2027-01-31'];
    expect(await line.run('keys', 'add', 'demo', ...options)).toBe(0);
    expect(line.requests).toMatchObject([
      {
        url: 'http://ledger/merchants/demo/changes/add-key',
        body: { scopes: ['payouts', 'collections'], expiresAt: '2027-01-31T00:00:00.000Z' },
      },
    ]);
    expect(line.printed()).toContain('public key     a-public-key-that-was-made\n');
  });

  it.each([
    [[], "required option '--scope <scope...>' not specified: see --help"],
    [
      ['--scope', 'refunds'],
      "option '--scope <scope...>' argument 'refunds' is invalid. Allowed choices are payouts, collections: see --help",
    ],
  ])('are not added with %j', async (options, message) => {
    const line = commandLine();
    expect(await line.run('keys', 'add', 'demo', ...options)).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
    expect(line.requests).toEqual([]);
  });
});

it.each([
  ['192.0.2.7, 2001:db8::/32', ['192.0.2.7', '2001:db8::/32']],
  ['any', []],
])('where requests may come from is proposed as %s', async (text, allowedAddresses) => {
  const line = commandLine([takenChange({ kind: 'access' })]);
  expect(await line.run('merchants', 'set-access', 'demo', '--addresses', text)).toBe(0);
  expect(line.requests).toMatchObject([
    { url: 'http://ledger/merchants/demo/changes/access', body: { allowedAddresses } },
  ]);
});

it.each([
  [['--requests', 'required'], { required: true }],
  [
    ['--requests', 'optional', '--remove-secret', '3fa9c2d1e0b4'],
    { required: false, removeSecret: '3fa9c2d1e0b4' },
  ],
  [['--add-secret'], { addSecret: true }],
])('signatures of requests are proposed as %j', async (options, body) => {
  const line = commandLine([takenChange({ kind: 'signatures' }, { signingSecret: 'rqsec_shown' })]);
  expect(await line.run('merchants', 'set-signatures', 'demo', ...options)).toBe(0);
  expect(line.requests).toEqual([
    { url: 'http://ledger/merchants/demo/changes/signatures', token: 'operator-token-of-tests', body },
  ]);
  expect(line.printed()).toContain('signing secret  rqsec_shown\n');
});

it('signatures are not set to nothing', async () => {
  const line = commandLine();
  expect(await line.run('merchants', 'set-signatures', 'demo')).toBe(1);
  expect(line.complained()).toContain('nothing to set');
});

describe('showing', () => {
  it('prints the balance of every wallet of the merchant; an untouched one is empty', async () => {
    const line = commandLine();
    await line.run('balance', 'demo');
    expect(line.requests).toEqual(['http://ledger/accounts/demo/GHS']);
    expect(line.printed()).toBe('AVAILABLE      HELD  SEQUENCE\n 0.00 GHS  0.00 GHS         0\n');
  });

  it('says that there is no such wallet, and no such merchant', async () => {
    for (const [of, said] of [
      [
        ['demo', 'XOF'],
        'currency: demo has no XOF wallet: to add it, see pesewa merchants set-wallet --help',
      ],
      [['nobody', 'GHS'], 'merchant: there is no nobody: see pesewa merchants list'],
    ] as const) {
      const line = commandLine();
      expect(await line.run('balance', ...of)).toBe(1);
      expect(line.complained()).toBe(`pesewa: ${said}\n`);
      expect(line.printed()).toBe('');
    }
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

it('says which version it is', async () => {
  const line = commandLine();
  expect(await line.run('--version')).toBe(0);
  expect(line.printed()).toMatch(/^\d+\.\d+\.\d+\n$/);
});

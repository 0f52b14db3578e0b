import { describe, expect, test } from 'vitest';
import {
  AddressRefusedError,
  checkAddress,
  createGuardedLookup,
  isPublicAddress,
  isPublicHost,
} from './address-guard.ts';

const none: readonly string[] = [];
const refusalOf = (text: string, allowed = none) => {
  const judged = checkAddress(text, allowed);
  return judged.ok ? 'allowed' : judged.refusal;
};

const innerHosts = [
  '127.0.0.1',
  'localhost',
  'localhost.',
  'a.localhost',
  '127.1',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8%25a]',
  '[::7f00:1]',
  '[::ffff:0:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:1::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[100::1]',
  '[5f00::1]',
  'mongo',
  'ledger.pesewa.svc',
  'ledger.pesewa.svc.cluster.local',
  'metadata.google.internal',
  'printer.local',
];

describe('addresses (contract 10.15, OWASP API7:2023)', () => {
  test.each([
    'https://merchant.example.com/hooks',
    'https://merchant.example.com:443/hooks?a=b',
    'https://8.8.8.8/hooks',
    'https://[2606:4700:4700::1111]/hooks',
  ])('%s may be called', (text) => {
    expect(refusalOf(text)).toBe('allowed');
  });

  test.each(innerHosts)('https://%s/ is refused', (host) => {
    expect(refusalOf(`https://${host}/`)).toMatch(/^address\.(?:not_public|malformed)$/);
  });

  test.each([
    ['http://merchant.example.com/', 'address.not_https'],
    ['ftp://merchant.example.com/', 'address.not_https'],
    ['file:///etc/passwd', 'address.not_https'],
    ['data:text/plain,a', 'address.not_https'],
    ['javascript:alert(1)', 'address.not_https'],
    ['ws://merchant.example.com/', 'address.not_https'],
    ['https://merchant.example.com:8443/', 'address.port'],
    ['https://merchant.example.com:27017/', 'address.port'],
    ['https://good.example.com@bad.example.com/', 'address.credentials'],
    ['https://user:secret@merchant.example.com/', 'address.credentials'],
    ['https://merchant.example.com\\@bad.example.com/', 'address.malformed'],
    ['https://merchant.exa\tmple.com/', 'address.malformed'],
    ['https://merchant.example.com/\r\nX: y', 'address.malformed'],
    [' https://merchant.example.com/', 'address.malformed'],
    [`https://merchant.example.com/${'a'.repeat(2_048)}`, 'address.malformed'],
    ['merchant.example.com', 'address.malformed'],
    ['', 'address.malformed'],
  ])('%j is refused as %s', (text, refusal) => {
    expect(refusalOf(text)).toBe(refusal);
  });

  test('a listed origin passes exactly, and nothing beside it', () => {
    const allowed = ['http://127.0.0.1:4070'];
    expect(checkAddress('http://127.0.0.1:4070/merchant/demo/payouts', allowed)).toMatchObject({
      ok: true,
      value: { listed: true },
    });
    expect(refusalOf('http://127.0.0.1:4071/', allowed)).toBe('address.not_https');
    expect(refusalOf('https://127.0.0.1:4070/', allowed)).toBe('address.port');
    expect(refusalOf('http://localhost:4070/', allowed)).toBe('address.not_https');
    expect(refusalOf('http://a@127.0.0.1:4070/', allowed)).toBe('address.credentials');
  });
});

test('a host is judged as a literal or as a name', () => {
  expect(isPublicHost('[::1]')).toBe(false);
  expect(isPublicHost('::1')).toBe(false);
  expect(isPublicHost('merchant.example.com')).toBe(true);
  expect(isPublicAddress('merchant.example.com')).toBe(false);
});

describe('name resolution', () => {
  const resolving = (addresses: readonly string[]) => async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const look = (addresses: readonly string[], all: boolean) =>
    new Promise((resolve, reject) => {
      createGuardedLookup(resolving(addresses), 1_000)(
        'merchant.example.com',
        { all },
        (error, found, family) => {
          if (error) reject(error);
          else resolve(all ? found : { address: found, family });
        },
      );
    });

  test('gives public addresses, all or the first', async () => {
    const both = [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ];
    expect(await look(['8.8.8.8', '2606:4700::1'], true)).toEqual(both);
    expect(await look(['8.8.8.8', '2606:4700::1'], false)).toEqual(both[0]);
  });

  test.each([[['127.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['::ffff:10.0.0.1']], [[]]])(
    'refuses %j',
    async (addresses) => {
      await expect(look(addresses, true)).rejects.toBeInstanceOf(AddressRefusedError);
      await expect(look(addresses, false)).rejects.toBeInstanceOf(AddressRefusedError);
    },
  );
});

import { describe, expect, test } from 'vitest';
import { createAddressList } from './address-list.ts';
import { clientAddress } from './client-address.ts';
import { addressRangeSetting } from './settings.ts';

describe('a list of addresses', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.128/25', '203.0.113.127', false],
    ['203.0.113.0/24', '::ffff:203.0.113.9', true],
    ['203.0.113.0/24', '::ffff:cb00:7109', true],
    ['203.0.113.0/24', '::cb00:7109', false],
    ['::ffff:203.0.113.0/120', '203.0.113.9', true],
    ['::ffff:203.0.113.0/120', '203.0.114.9', false],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '8.8.8.8', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:DB8:0:0:0:0:0:1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::1', '2001:db8::2', false],
    ['0.0.0.0/0', '127.1', false],
    ['0.0.0.0/0', '0x7f.0.0.1', false],
    ['0.0.0.0/0', '0177.0.0.1', false],
    ['0.0.0.0/0', '2130706433', false],
    ['0.0.0.0/0', 'merchant.example', false],
    ['0.0.0.0/0', '', false],
    ['0.0.0.0/0', undefined, false],
  ])('%s has %s: %s', (range, address, expected) => {
    expect(createAddressList(['192.0.2.1', range]).has(address)).toBe(expected);
  });

  test('without items has nobody', () => {
    expect(createAddressList([]).has('8.8.8.8')).toBe(false);
  });

  test.each([
    '',
    '203.0.113.0/33',
    '203.0.113.0/-1',
    '203.0.113.0/',
    '203.0.113.0/24/24',
    '203.0.113.0/a',
    '203.0.113.7/24',
    '203.0.113/24',
    '2001:db8::/129',
    '2001:db8::1/32',
    '::ffff:203.0.113.0/95',
    'merchant.example',
    '10.0.0.0/8,',
  ])('%j is no range, and the problem names it', (range) => {
    expect(() => createAddressList(['192.0.2.1', range])).toThrow(range);
    const problem = addressRangeSetting.safeParse(range).error?.issues[0]?.message;
    expect(problem).toContain(`: ${range}`);
  });
});

describe('whom a request comes from', () => {
  const peerAddress = '192.0.2.1';
  test.each([
    [0, undefined, '192.0.2.1'],
    [0, '203.0.113.7', '192.0.2.1'],
    [1, '203.0.113.7', '203.0.113.7'],
    [1, '198.51.100.9, 203.0.113.7', '203.0.113.7'],
    [2, '198.51.100.9, 203.0.113.7', '198.51.100.9'],
    [2, '8.8.8.8,198.51.100.9 ,\t203.0.113.7', '198.51.100.9'],
    [1, '::ffff:203.0.113.7', '203.0.113.7'],
    [1, '2001:DB8:0::7', '2001:db8::7'],
    [1, undefined, undefined],
    [1, '', undefined],
    [2, '203.0.113.7', undefined],
    [2, ', 203.0.113.7', undefined],
    [1, '203.0.113.7,', undefined],
    [1, '203.0.113.7, unknown', undefined],
    [1, '203.0.113.7:443', undefined],
    [1, '"203.0.113.7"', undefined],
    [1, '127.1', undefined],
  ])('behind %i proxies, told %j: %s', (trustedProxies, forwardedFor, expected) => {
    expect(clientAddress({ peerAddress, forwardedFor, trustedProxies })).toBe(expected);
  });

  test('a peer is written in one way, and none is nobody', () => {
    const from = (peer: string | undefined) =>
      clientAddress({ peerAddress: peer, forwardedFor: undefined, trustedProxies: 0 });
    expect(from('::ffff:203.0.113.7')).toBe('203.0.113.7');
    expect(from(undefined)).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { createAddressList } from './address-list.ts';
import { clientAddress } from './client-address.ts';

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
    [1, '203.0.113.7:443', '203.0.113.7'],
    [1, '8.8.8.8:1, 203.0.113.7:5678', '203.0.113.7'],
    [2, '[2001:db8::1]:443, 10.0.0.1:80', '2001:db8::1'],
    [1, '[2001:DB8::1]', '2001:db8::1'],
    [1, '[::ffff:203.0.113.7]:443', '203.0.113.7'],
    [1, '2001:db8::1:443', '2001:db8::1:443'],
    [1, '203.0.113.7:', undefined],
    [1, '203.0.113.7:port', undefined],
    [1, '203.0.113.7:443:443', undefined],
    [1, '[203.0.113.7]:443', undefined],
    [1, '[2001:db8::1]443', undefined],
    [1, '[2001:db8::1', undefined],
    [1, '127.1:80', undefined],
    [1, '"203.0.113.7"', undefined],
    [1, '127.1', undefined],
  ])('behind %i proxies, with the header %j: %s', (trustedProxies, forwardedFor, expected) => {
    expect(clientAddress({ peerAddress, forwardedFor, trustedProxies })).toBe(expected);
  });

  test('a peer is written in one way, and a missing one gives no address', () => {
    const from = (peer: string | undefined) =>
      clientAddress({ peerAddress: peer, forwardedFor: undefined, trustedProxies: 0 });
    expect(from('::ffff:203.0.113.7')).toBe('203.0.113.7');
    expect(from(undefined)).toBeUndefined();
  });

  test.each([
    ['10.0.0.9', '203.0.113.7'],
    ['::ffff:10.0.0.9', '203.0.113.7'],
    ['192.0.2.1', undefined],
    [undefined, undefined],
  ])('a peer at %s is believed only where it is a proxy of ours: %s', (peer, expected) => {
    const proxies = createAddressList(['10.0.0.0/8']);
    const forwarded = { peerAddress: peer, forwardedFor: '203.0.113.7', proxies };
    expect(clientAddress({ ...forwarded, trustedProxies: 1 })).toBe(expected);
  });
});

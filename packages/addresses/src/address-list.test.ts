import { describe, expect, test } from 'vitest';
import { createAddressList } from './address-list.ts';
import { addressRangeSetting, addressRangesSetting } from './settings.ts';

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

  test('without items contains no address', () => {
    expect(createAddressList([]).has('8.8.8.8')).toBe(false);
  });

  test.each([
    ['', false],
    ['203.0.113.0/33', true],
    ['203.0.113.0/-1', true],
    ['203.0.113.0/', true],
    ['203.0.113.0/24/24', true],
    ['203.0.113.0/a', true],
    ['203.0.113.7/24', true],
    ['203.0.113/24', true],
    ['2001:db8::/129', true],
    ['2001:db8::1/32', true],
    ['::ffff:203.0.113.0/95', true],
    ['merchant.example', false],
    ['10.0.0.0/8,', false],
    ['deadbeefdeadbeefdeadbeefdeadbeef', false],
    [`whsec_${'a1B+'.repeat(10)}`, false],
  ])('%j is no range; the problem quotes it only where it may pass for one', (range, isQuoted) => {
    expect(() => createAddressList(['192.0.2.1', range])).toThrow('item 2');
    const problem = addressRangeSetting.safeParse(range).error?.issues[0]?.message;
    expect(problem).toMatch(/^must be an address or a CIDR range/);
    expect(problem?.endsWith(`: ${range}`)).toBe(isQuoted);
  });
});

test('a list in a variable is separated by commas', () => {
  expect(addressRangesSetting.parse('10.0.0.0/8, 192.0.2.1')).toEqual(['10.0.0.0/8', '192.0.2.1']);
  expect(addressRangesSetting.parse(undefined)).toEqual([]);
  expect(addressRangesSetting.safeParse('10.0.0.0/8,,').success).toBe(false);
});

import { describe, expect, it } from 'vitest';
import { canonicalNumber, isPhoneNumber } from './customer-number.ts';

describe('spellings of one number', () => {
  it.each([
    ['GH', 'GH241234567', ['+233241234567', '00233241234567', '0241234567', '233241234567']],
    ['GH', 'GH241234567', ['241234567', '+233 (0)24 123-4567', '0233241234567', '024.123.4567']],
    ['GM', 'GM3001234', ['+2203001234', '2203001234', '3001234', '002203001234', '220 300 12 34']],
    ['CI', 'CI712345678', ['+2250712345678', '2250712345678', '0712345678', '002250712345678']],
    ['KE', 'KE712345678', ['+254712345678', '254712345678', '0712345678', '712345678']],
  ])('in %s are %s', (country, canonical, spellings) => {
    expect(new Set(spellings.map((spelling) => canonicalNumber(spelling, country)))).toEqual(
      new Set([canonical]),
    );
  });

  it.each([
    ['another number', '0241234567', 'GH', '0241234568', 'GH'],
    ['the same digits in another country', '0712345678', 'KE', '0712345678', 'CI'],
    ['a number that begins as the calling code does', '0233123456', 'GH', '0123456', 'GH'],
    ['such a one in the Gambia', '2201234', 'GM', '1234', 'GM'],
  ])('are not %s', (_name, one, ofOne, other, ofOther) => {
    expect(canonicalNumber(one, ofOne)).not.toBe(canonicalNumber(other, ofOther));
  });

  it('a number of a country that nobody serves is taken by its digits', () => {
    expect(canonicalNumber('+44 20 7946 0000', 'GB')).toBe('GB442079460000');
  });
});

describe('the form of a number', () => {
  it.each(['2203001234', '+233 24 123 4567', '123456'])('%s is one', (text) => {
    expect(isPhoneNumber(text)).toBe(true);
  });

  it.each([
    '',
    '12345',
    '1234567890123456',
    '++233241234567',
    '23324x1234567',
    '٢٣٣٢٤١٢٣٤',
    '２３３２４１２３',
    '-233241234',
  ])('%s is none', (text) => {
    expect(isPhoneNumber(text)).toBe(false);
  });
});

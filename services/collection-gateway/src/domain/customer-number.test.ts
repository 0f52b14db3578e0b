import { describe, expect, it } from 'vitest';
import { canonicalNumber } from './customer-number.ts';

describe('spellings of one number', () => {
  it.each([
    ['GH', 'GH241234567', ['+233241234567', '00233241234567', '0241234567', '233241234567', '241234567']],
    ['GH', 'GH241234567', ['0233241234567', '+2330241234567', '233233241234567', '99241234567']],
    ['GM', 'GM3001234', ['+2203001234', '2203001234', '3001234', '002203001234', '2202203001234']],
    ['CI', 'CI712345678', ['+2250712345678', '002250712345678', '2250712345678', '0712345678']],
    ['CI', 'CI712345678', ['712345678', '+225712345678', '2252250712345678']],
    ['KE', 'KE712345678', ['+254712345678', '254712345678', '0712345678', '712345678', '1254712345678']],
  ])('in %s are %s', (country, canonical, spellings) => {
    expect(new Set(spellings.map((spelling) => canonicalNumber(spelling, country)))).toEqual(
      new Set([canonical]),
    );
  });

  it.each([
    ['another number', '0241234567', 'GH', '0241234568', 'GH'],
    ['the customer of another mobile operator', '+2250712345678', 'CI', '+2250512345678', 'CI'],
    ['of a third one', '0512345678', 'CI', '0112345678', 'CI'],
    ['the same digits in another country', '0712345678', 'KE', '0712345678', 'CI'],
    ['one with fewer digits', '2201234', 'GM', '1234', 'GM'],
    ['one with fewer digits and zeros', '001234', 'GM', '1234', 'GM'],
  ])('are not %s', (_name, one, ofOne, other, ofOther) => {
    expect(canonicalNumber(one, ofOne)).not.toBe(canonicalNumber(other, ofOther));
  });

  it('a number of a country without a numbering plan is compared by its digits', () => {
    expect(canonicalNumber('+672 1 23456', 'AQ')).toBe('AQ672123456');
  });
});

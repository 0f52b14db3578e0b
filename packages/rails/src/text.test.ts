import { describe, expect, it } from 'vitest';
import { payoutReason, reasonLine } from './text.ts';
import { unmaskedWords } from './unmasked-words.ts';

describe('a foreign reason', () => {
  it.each([
    ['Insufficient wallet balance', 'Insufficient wallet balance'],
    ['refused with code 1234', 'refused with code 1234'],
    ['account 12345 is closed', 'account *** is closed'],
    ['no wallet for +254 712-345 678, sorry', 'no wallet for +***, sorry'],
    ['no wallet for (0712) 345\u00a0678', 'no wallet for (***'],
    ['call 0\u200b7\u200b1\u200b2\u200b3', 'call ***'],
    ['two\n1 2 3\n4 5 lines', 'two *** lines'],
    ['ask <ama.k+x@example.com>; now', 'ask *** now'],
    [`${'no '.repeat(46)}0712345678`, `${'no '.repeat(46)}**`],
    [`${'no '.repeat(45)}ama@example.com`, `${'no '.repeat(45)}***`],
    ['Ama Mensah is not registered', '*** is not registered'],
    ['ABENA K. MENSAH-OWUSU NOT REGISTERED', '*** NOT REGISTERED'],
    ["wallet of Kofi N'Guessan, Junior, is blocked", 'wallet of ***, is blocked'],
    ['le compte de Ndèye Fatou Sène est bloqué', 'le compte de *** est bloqué'],
    ['Grace Blessing is unknown', '*** is unknown'],
    ['registered to ama1990', 'registered to ***'],
    ['account of አማ', 'account of ***'],
    ['INCORRECT_OTP (Q51)', 'INCORRECT_OTP (Q51)'],
    ['no wallet for 0712*345*678', 'no wallet for ***'],
    ['no wallet for 07_12,34;56', 'no wallet for ***'],
    ['no wallet for 07 | 12 | 34', 'no wallet for ***'],
    ['no wallet for ０７１２３４', 'no wallet for ***'],
    ['steps 1 of 2, 3 of 4, 5 of 6', 'steps 1 of 2, 3 of 4, 5 of 6'],
    ['of ama\uff20example.com', 'of ***'],
    ['of ama\ufe6bexample.com', 'of ***'],
    [' \u0000 ', undefined],
    [null, undefined],
  ])('%j becomes %j', (text, line) => {
    expect(reasonLine(text)).toBe(line);
  });
});

it.each([
  ['bytes that are no text', '\ufffd'.repeat(60_000), '\ufffd'.repeat(140)],
  ['marks without a letter', '\u0301'.repeat(60_000), '\u0301'.repeat(8)],
  ['a letter with marks in another order than is usual', `x${'\u0301\u0327'.repeat(30_000)}`, '***'],
])('a reason costs what it is long: %s', (_what, text, line) => {
  // Each took seconds where it was looked at from every place in it, or where its marks were sorted.
  expect(reasonLine(text)).toBe(line);
});

it.each([
  'Your float is too low',
  'prefunded account exhausted',
  'Merchant daily limit exceeded',
  'Partner wallet is blocked',
])('of a collection too, %j speaks of us and is left out', (text) => {
  expect(reasonLine(text)).toBe('not paid by the rail');
});

it('of a collection, missing money is the customer’s and is told', () => {
  for (const text of ['Balance insufficient', 'Your balance is insufficient'])
    expect(reasonLine(text)).toBe(text);
});

describe('the words of payments', () => {
  it('have no accents or capitals, by which they are looked up', () => {
    for (const word of unmaskedWords) expect(word).toMatch(/^[a-z]+$/u);
  });
});

describe('the reason of a payout', () => {
  it.each([
    'Insufficient wallet balance',
    'INSUFFICIENT FUNDS',
    'not enough money: low float',
    'No funds',
    'prefunded account exhausted',
    'Solde du compte insuffisant',
    'PROVISION INSUFFISANTE',
    'Merchant daily limit exceeded',
    'wallet balance is insufficient',
    'Balance insufficient',
    'The amount exceeds the available balance',
    'Montant dépassant le solde disponible',
    'Fonds du partenaire épuisés',
    'Your float is too low',
  ])('%j speaks of our wallet and is left out', (text) => {
    expect(payoutReason(text)).toBe('not paid by the rail');
  });

  it.each(['Beneficiary institution declined', 'no wallet for ***', 'Beneficiary wallet limit exceeded'])(
    '%j is kept',
    (text) => {
      expect(payoutReason(text)).toBe(text);
    },
  );
});

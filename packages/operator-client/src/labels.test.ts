import { expect, it } from 'vitest';
import { describeAccount, describeMovement, inWords } from './labels.ts';

it.each([
  ['not_in_books', 'not in our books'],
  ['not_on_statement', "not on the rail's statement"],
  ['differs', 'differs'],
  ['set_aside', 'set aside'],
  ['collection.amount_differs', 'collection: amount differs'],
  ['statement.not_in_books', 'statement: not in our books'],
  ['close.not_at_rail', 'close: not at the rail'],
  ['railCost', 'rail fee'],
  ['withdrawFloat', 'withdraw float'],
  ['fund-float', 'fund float'],
  ['PayoutCompleted', 'payout completed'],
  ['OTP passed on', 'OTP passed on'],
  ['100.50 KES proposed by Ama-B: po-1a', '100.50 KES proposed by Ama-B: po-1a'],
])('%s is %s in words', (code, words) => {
  expect(inWords(code)).toBe(words);
});

it.each([
  ['wallet:demo:GHS', 'GHS wallet of demo'],
  ['wallet:demo:GHS:held', 'GHS wallet of demo, held'],
  ['float:upstream:GHS', 'GHS float at upstream'],
  ['railCost:GHS', 'GHS rail fee'],
  ['suspense:GHS', 'GHS suspense'],
])('%s is the account %s', (account, words) => {
  expect(describeAccount(account)).toBe(words);
});

it.each([
  [
    'wallet:demo:GHS:available',
    'wallet:demo:GHS:held',
    'from GHS wallet of demo, available to GHS wallet of demo, held',
  ],
  [
    'wallet:demo:GHS:held',
    'float:upstream:GHS',
    'paid from GHS float at upstream, charged to GHS wallet of demo, held',
  ],
  ['railCost:GHS', 'float:upstream:GHS', 'from GHS float at upstream to GHS rail fee'],
  ['float:upstream:GHS', 'treasury:GHS', 'from GHS treasury to GHS float at upstream'],
  [
    'float:upstream:GHS',
    'wallet:demo:GHS:available',
    'received on GHS float at upstream, credited to GHS wallet of demo, available',
  ],
  ['suspense:GHS', 'wallet:demo:GHS:available', 'from GHS suspense to GHS wallet of demo, available'],
])('an entry that debits %s and credits %s is told as the money moved', (debit, credit, said) => {
  expect(describeMovement({ debit, credit, amount: '5', currency: 'GHS' })).toBe(`5.00 GHS ${said}`);
});

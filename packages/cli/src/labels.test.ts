import { expect, it } from 'vitest';
import { describeAccount, inWords } from './labels.ts';

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

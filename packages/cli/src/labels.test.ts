import { expect, it } from 'vitest';
import { describeAccount, describeCloseResult, inWords } from './labels.ts';

it.each([
  ['missing_here', 'not in our books'],
  ['missing_there', "not on the rail's statement"],
  ['differs', 'differs'],
  ['set_aside', 'set aside'],
  ['collection.amount_differs', 'collection: amount differs'],
  ['statement.missing_here', 'statement: not in our books'],
  ['close.missing_there', 'close: not at the rail'],
  ['railCost', 'rail fee'],
  ['withdrawFloat', 'withdraw float'],
  ['fund-float', 'fund float'],
  ['PayoutCompleted', 'payout completed'],
  ['OTP passed on', 'OTP passed on'],
  ['100.50 KES proposed by Ama-B: po-1a', '100.50 KES proposed by Ama-B: po-1a'],
])('%s is %s in words', (code, words) => {
  expect(inWords(code)).toBe(words);
});

it('names the results of a close', () => {
  expect(['missing_there', 'unclear'].map(describeCloseResult)).toEqual(['not at the rail', 'unclear']);
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

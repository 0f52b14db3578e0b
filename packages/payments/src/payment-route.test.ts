import { expect, it } from 'vitest';
import { maskNames } from './payment-route.ts';

const customer = ['Bo Jallow', '+233241234567', null];

it.each([
  ['BO JALLOW HAS NO MONEY', '*** *** HAS NO MONEY'],
  ['Subscriber 0241234567 is barred', 'Subscriber *** is barred'],
  ['Subscriber +233 24 123 4567 is barred', 'Subscriber *** is barred'],
  ['00233-24-1234567: limit of 5000', '***: limit of 5000'],
  ['(0241) 234.567', '(***'],
  ['ERROR 91 AT 12:30', 'ERROR 91 AT 12:30'],
])('a reason is shown without names and numbers, however they are written: %s', (reason, shown) => {
  expect(maskNames(reason, customer)).toBe(shown);
});

it('no reason stays none', () => {
  expect(maskNames(null, customer)).toBeNull();
});

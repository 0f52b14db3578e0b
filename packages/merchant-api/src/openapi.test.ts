import { expect, it } from 'vitest';
import { allowEmpty } from './openapi.ts';

it('lets optional texts be empty, and leaves the required ones alone', () => {
  const optional = { type: ['string', 'null'], minLength: 1, maxLength: 9 };
  const oneOf = { type: ['string', 'null'], enum: ['1', '2', null] };
  const required = { type: 'string', minLength: 1 };
  expect(allowEmpty({ properties: { optional, oneOf, required }, required: ['required'] })).toEqual({
    properties: {
      optional: { type: ['string', 'null'], maxLength: 9 },
      oneOf: { type: ['string', 'null'], enum: ['1', '2', '', null] },
      required,
    },
    required: ['required'],
  });
});

import { expect, it } from 'vitest';
import { readMediaType } from './media-type.ts';

it.each([
  ['application/json', 'application/json'],
  ['Application/JSON; charset="utf-8"', 'application/json'],
  ['json', undefined],
  [undefined, undefined],
  // Read to its end, it would take half a second.
  [`application/json${' '.repeat(15_000)}x`, undefined],
  [`application/json;${' '.repeat(240)}`, undefined],
])('%j is of the type %j', (header, type) => {
  expect(readMediaType(header)?.essence).toBe(type);
});

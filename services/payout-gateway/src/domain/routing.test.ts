import { expect, it } from 'vitest';
import { noRouteRefusal } from './routing.ts';

it.each([
  [{ kind: 'noRoute' }, 'noRoute', 'no route for Mobile Money in GHA with GHS'],
  [{ kind: 'noProcessor', why: 'blocked' }, 'noRoute', 'bankCode names a processor that is blocked'],
  [{ kind: 'unavailable' }, 'unavailable', 'try again'],
] as const)('a missing route is refused by what is missing: %j', (route, code, message) => {
  const query = { channel: 'Mobile Money', country: 'GHA', currency: 'GHS' } as const;
  expect(noRouteRefusal(route, query, 'bankCode')).toEqual({
    code,
    message: expect.stringContaining(message) as unknown,
  });
});

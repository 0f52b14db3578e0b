import { expect, it } from 'vitest';
import { createPlaces } from './places.ts';

const limits = { perEndpointMax: 3, waitingPerEndpointMax: 0, perMerchantMax: 5, failingMax: 2 };
const open = () => {
  const heard = { freed: 0 };
  const places = createPlaces(limits, () => {
    heard.freed += 1;
  });
  /** Takes places until there are none. */
  const fill = (endpoint: string) => {
    const taken = [];
    for (let free = places.take(endpoint); free; free = places.take(endpoint)) taken.push(free);
    return taken;
  };
  const fail = (endpoint: string, times = 3) => {
    for (let time = 0; time < times; time += 1) places.attempted(endpoint, false);
  };
  return { ...places, heard, fill, fail };
};

it('an endpoint has so many places, and a merchant so many over all of its endpoints', () => {
  const { fill, roomOf, heard } = open();
  const first = fill('demo payouts');
  expect([first.length, roomOf('demo payouts')]).toEqual([3, 0]);
  expect([fill('demo https://a').length, roomOf('demo https://b')]).toEqual([2, 0]);
  expect(roomOf('demo2 payouts')).toBe(3);
  first[0]?.();
  expect([heard.freed, roomOf('demo payouts'), roomOf('demo https://b')]).toEqual([1, 1, 1]);
});

it('what comes at once to an endpoint may wait for its places; once they are taken nothing else may', () => {
  const { roomOf, freeOf, take } = createPlaces({ ...limits, perMerchantMax: 20, waitingPerEndpointMax: 4 });
  const rooms = [0, 1, 2, 3].map(() => {
    const room = [roomOf('demo payouts'), freeOf('demo payouts')];
    take('demo payouts');
    return room;
  });
  expect(rooms).toEqual([
    [7, 3],
    [6, 2],
    [5, 1],
    [0, 0],
  ]);
  // What was granted together is taken one after another.
  expect([1, 2, 3, 4].map(() => take('demo payouts') !== undefined)).toEqual([true, true, true, false]);
});

it('an endpoint that fails is tried with one delivery at a time until one is delivered', () => {
  const { fill, fail, attempted, roomOf } = open();
  fail('demo payouts', 2);
  expect(roomOf('demo payouts')).toBe(3);
  fail('demo payouts', 1);
  const [free] = fill('demo payouts');
  expect(roomOf('demo payouts')).toBe(0);
  attempted('demo payouts', true);
  free?.();
  expect(roomOf('demo payouts')).toBe(3);
});

it('those that fail share so many places, and leave the others to those that answer', () => {
  const { fill, fail, roomOf } = open();
  const dead = ['a', 'b', 'c'].map((name) => `${name} payouts`);
  for (const endpoint of dead) fail(endpoint);
  const taken = dead.map((endpoint) => fill(endpoint).length);
  expect(taken).toEqual([1, 1, 0]);
  expect([roomOf('c payouts'), roomOf('d payouts')]).toEqual([0, 3]);
});

it('what was taken before an endpoint failed is freed as it was taken', () => {
  const { fill, fail, roomOf } = open();
  const taken = fill('a payouts');
  fail('a payouts');
  expect(roomOf('a payouts')).toBe(0);
  for (const free of taken) free();
  expect(roomOf('a payouts')).toBe(1);
  fail('b payouts');
  expect([fill('a payouts').length, fill('b payouts').length]).toEqual([1, 1]);
});

it('of endpoints without end that failed the newest are remembered', () => {
  const { fail, roomOf } = open();
  for (let index = 0; index < 2_000; index += 1) fail(`demo https://${index}.example`);
  expect([roomOf('demo https://0.example'), roomOf('demo https://1999.example')]).toEqual([3, 1]);
});

it('deliveries are chosen together as places would be taken: by endpoint, by merchant, and of what fails', () => {
  const { choose, fail, fill } = open();
  fill('demo payouts').at(0)?.();
  const fits = choose();
  const chosen = ['demo payouts', 'demo payouts', 'demo https://a', 'demo https://b', 'demo https://c'].map(
    fits,
  );
  expect(chosen).toEqual([true, false, true, true, false]);
  expect(fits('other payouts')).toBe(true);
  for (const endpoint of ['x a', 'y a', 'z a']) fail(endpoint);
  expect(['x a', 'x a', 'y a', 'z a'].map(choose())).toEqual([true, false, true, false]);
});

import type { Rule } from './rules.ts';
import { createWorld, only } from './world.fixture.ts';
import type { World } from './world.ts';

/** A world in which everything agrees. */
export const world = createWorld();
/** The one request of a merchant’s reference. */
export const callOf = (reference: string) => only(world.calls.filter((call) => call.reference === reference));

/** A rule, the violation in words, and the world that contains it. */
export type InjectedFault = readonly [rule: Rule, what: string, world: World];

/** The world with this much more in the rail's wallet and in our float. */
export function moved(spoiled: World, minor: bigint): World {
  const purses = spoiled.purses.map((one) => ({
    ...one,
    after: one.after + minor,
    float: one.float + minor,
  }));
  return { ...spoiled, purses };
}

/** The lists of a world. */
type Key = {
  readonly [Name in keyof World]: World[Name][number] extends object ? Name : never;
}[keyof World];

/** The world with every item changed that `matches`. */
export function changed<Name extends Key>(
  name: Name,
  matches: (item: World[Name][number]) => boolean,
  change: Partial<World[Name][number]>,
): World {
  const items: readonly World[Name][number][] = world[name];
  const spoiled = items.map((item) => (matches(item) ? Object.assign({}, item, change) : item));
  return { ...world, [name]: spoiled };
}

/** The world without every item that `matches`. */
export function without<Key extends keyof World>(
  key: Key,
  matches: (item: World[Key][number]) => boolean,
): World {
  const items: readonly World[Key][number][] = world[key];
  return { ...world, [key]: items.filter((item) => !matches(item)) };
}

/** The world with more items. */
export function withMore<Key extends keyof World>(key: Key, ...more: World[Key][number][]): World {
  return { ...world, [key]: [...world[key], ...more] };
}

/** Whether something has a reference. */
export const of =
  (reference: string) =>
  (item: { readonly reference: string }): boolean =>
    item.reference === reference;

/** One payment. */
export const payment = (reference: string) => only(world.payments.filter(of(reference)));
/** One event. */
export const event = (id: string) => only(world.events.filter((one) => one.id === id));
/** One move of the rail. */
export const move = (reference: string, kind: string, operation = 'payout') =>
  only(
    world.moves.filter(
      (one) => one.reference === reference && one.kind === kind && one.operation === operation,
    ),
  );
/** One delivery. */
export const delivery = (reference: string) => only(world.deliveries.filter(of(reference)));
/** One webhook as it was received. */
export const received = (reference: string) => only(world.received.filter(of(reference)));

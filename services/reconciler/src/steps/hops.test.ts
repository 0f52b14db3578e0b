import { type DeclaredMessaging, messagingServices, services } from '@pesewa/contracts';
import { expect, it } from 'vitest';
import { toEntries, toOwners, toWebhooks, wholeWay } from './hops.ts';

const uses = new Map<string, DeclaredMessaging>(
  messagingServices.map((name) => [name, services[name].messaging]),
);

it.each([
  ...toOwners,
  ...toWebhooks,
  ...[toEntries, wholeWay].flatMap(({ payout, collection }) => [...payout, ...collection]),
])('a hop leads over topics that $from produce and $by consumes', ({ from, topics, by }) => {
  const senders: readonly string[] = from;
  const sent = [...uses.values()].flatMap(({ database, produces }) =>
    senders.includes(database) ? produces : [],
  );
  expect(sent).toEqual(expect.arrayContaining([...topics]));
  expect(uses.get(by)?.consumes).toEqual(expect.arrayContaining([...topics]));
});

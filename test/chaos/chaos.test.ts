import { randomInt } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { createMerchantClient } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { openScenario, type Scenario } from '../scenarios/scenario.ts';
import { checkWorld } from './checker/check.ts';
import type { Call, World } from './checker/world.ts';
import { createHistoryClient, type HistoryClient } from './client.ts';
import { readWorld, type Traces } from './dump.ts';
import { explain } from './explain.ts';
import { createBreaker } from './faults.ts';
import { createPlan, type Plan } from './plan.ts';
import { openDatabases } from './read-databases.ts';
import { readWallets } from './read-rail.ts';
import { playActs } from './workload.ts';

const wanted = process.env['SEED'] ?? '8';
const seed = wanted === 'random' ? randomInt(1, 2 ** 31) : Number(wanted);
const loadMs = Number(process.env['CHAOS_SECONDS'] ?? 30) * 1_000;
const replay = `SEED=${seed} CHAOS_SECONDS=${loadMs / 1_000} pnpm exec vitest run --project scenarios test/chaos`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** How long the system may take to come to rest once all is mended. */
const REST_MS = 120_000;
const OPEN_MS = 120_000;

/** Quick where production is patient, so that a run comes to rest soon. */
const environment = {
  reconciler: { POLL_CAP_MS: '3000', POLLS_BEFORE_BREAK: '12' },
  'webhook-dispatcher': {
    DELIVERY_DEADLINE_MS: '2000',
    RETRY_DELAYS_MS: Array.from({ length: 40 }, (_, at) => Math.min(500 * (at + 1), 3_000)).join(','),
  },
};

it(
  'whatever breaks, all sides agree once it is mended',
  async () => {
    print(`seed ${seed}: ${replay}`);
    const plan = createPlan(seed, loadMs);
    print(JSON.stringify({ ...plan.swarm, doubled: plan.doubled, acts: plan.acts.length }));
    await using scenario = await openScenario('chaos', environment);
    const traces = await disturb(scenario, plan);
    const world = await settled(traces);
    const violations = checkWorld(world);
    print(`${describe(world)}\n${explain(world, violations)}`);
    expect(violations, replay).toEqual([]);
  },
  OPEN_MS + 2 * loadMs + 2 * REST_MS,
);

/** Plays the load and the faults side by side, then mends everything; gives where its traces are. */
async function disturb(scenario: Scenario, { acts, faults, doubled }: Plan): Promise<Traces> {
  const { stack, prefix } = scenario;
  const replicas = await Promise.all(doubled.map((name) => stack.replicate(name)));
  const services = [...new Set([...faults.flatMap(({ target }) => target ?? []), ...doubled])].map(
    stack.service,
  );
  const walletsBefore = await readWallets(stack);
  const calls: Call[] = [];
  const clients = clientsOf(scenario, calls);
  const breaker = createBreaker({ stack, services, clock: systemClock, log: print });
  const clientOf = (merchantId: string): HistoryClient => {
    const client = clients.get(merchantId);
    if (!client) throw new Error(`no client of ${merchantId}`);
    return client;
  };
  const play = playActs(acts, { clientOf, clock: systemClock });
  await breaker.run(faults);
  await breaker.heal();
  await Promise.all(replicas.map(({ service }) => service.ready()));
  await play;
  return { stack, prefix, calls, walletsBefore };
}

function clientsOf({ stack }: Scenario, calls: Call[]): ReadonlyMap<string, HistoryClient> {
  const { transferUrl, collectionsUrl } = stack.runFile();
  return new Map(
    stack.merchants.map(({ id, publicKey }) => {
      const client = createMerchantClient({ transferUrl, collectionsUrl, publicKey });
      return [id, createHistoryClient({ merchantId: id, client, calls, clock: systemClock })];
    }),
  );
}

/** Waits until nothing is under way and the checker is content; after the patience, the world as it is. */
async function settled(traces: Traces): Promise<World> {
  await using databases = await openDatabases(traces.stack.runFile().mongodbUrl, traces.prefix);
  const isQuiet = async () => {
    expect(await databases.underWay()).toEqual({ outboxes: 0, deliveries: 0 });
    const violations = checkWorld(await readWorld(traces, databases));
    if (violations.length > 0) print(`${violations.length} violations yet, ${JSON.stringify(violations[0])}`);
    expect(violations).toEqual([]);
  };
  await eventually(isQuiet, REST_MS).catch(() => undefined);
  // Once more: what was agreed must stay so.
  return await readWorld(traces, databases);
}

/** What a run has been through: one that saw no ambiguity and no repeat proves little. */
function describe({ calls, payments, moves, breaks, events, received, callbacks }: World): string {
  const count = <Item>(items: readonly Item[], key: (item: Item) => string) =>
    Object.fromEntries([...Map.groupBy(items, key)].map(([name, all]) => [name, all.length]));
  return JSON.stringify({
    calls: count(calls, ({ outcome }) => outcome),
    payments: count(payments, ({ api, status }) => `${api} ${status}`),
    rail: count(moves, ({ kind, outcome }) => `${kind} ${outcome}`),
    breaks: count(breaks, ({ kind, isOpen }) => `${kind} ${isOpen ? 'open' : 'resolved'}`),
    events: events.length,
    received: received.length,
    callbacks: callbacks.length,
  });
}

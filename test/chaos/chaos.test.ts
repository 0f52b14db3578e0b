import { randomInt } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { createMerchantClient } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { openScenario, type Scenario } from '../scenarios/scenario.ts';
import { checkWorld } from './checker/check.ts';
import { missedBy } from './checker/experience.ts';
import type { Call, World } from './checker/world.ts';
import { readWorld, type Traces } from './dump.ts';
import { explain } from './explain.ts';
import { createBreaker, type Strike, type Victim } from './faults.ts';
import { createHistoryClient, type HistoryClient } from './load/client.ts';
import { playActs } from './load/workload.ts';
import { createPlan, intentOf, type Plan } from './plan/plan.ts';
import { usualLoadMs, usualSeeds } from './plan/seeds.ts';
import { type Databases, openDatabases } from './read-databases.ts';
import { readWallets } from './read-rail.ts';

const wanted = process.env['SEED'];
const seeds =
  wanted === undefined ? usualSeeds : [wanted === 'random' ? randomInt(1, 2 ** 31) : Number(wanted)];
const loadMs = Number(process.env['CHAOS_SECONDS'] ?? usualLoadMs / 1_000) * 1_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** How long the system may take to come to rest once all is mended. */
const REST_MS = 120_000;
/** How long what has come to rest must stay so: beyond a comparison of the wallets, a poll at its cap and a relay's lease. */
const STAY_MS = 17_000;
/** Between two looks at the whole world. */
const LOOK_PAUSE_MS = 2_000;
const OPEN_MS = 120_000;

/** Quick where production is patient, so that a run comes to rest soon. */
const environment = {
  reconciler: { POLL_CAP_MS: '3000', POLLS_BEFORE_BREAK: '8' },
  'webhook-dispatcher': {
    DELIVERY_DEADLINE_MS: '2000',
    RETRY_DELAYS_MS: Array.from({ length: 40 }, (_, at) => Math.min(500 * (at + 1), 3_000)).join(','),
  },
};

it.each(seeds)(
  'whatever breaks, all sides agree once it is mended: seed %d',
  async (seed) => {
    const replay = `SEED=${seed} CHAOS_SECONDS=${loadMs / 1_000} pnpm exec vitest run --project scenarios test/chaos`;
    print(`seed ${seed}: ${replay}`);
    const plan = createPlan(seed, loadMs);
    print(JSON.stringify({ ...plan.swarm, acts: plan.acts.length }));
    await using scenario = await openScenario('chaos', environment);
    const { traces, strikes } = await disturb(scenario, plan);
    const { world, underWay } = await settled(traces);
    const violations = checkWorld(world);
    print(`${describe(world)}\n${explain(world, violations)}`);
    expect(violations, replay).toEqual([]);
    expect(underWay, replay).toEqual(nothing);
    expect(missedBy(world, intentOf(plan), strikes), replay).toEqual([]);
  },
  OPEN_MS + 3 * loadMs + 3 * REST_MS,
);

/** Plays the load and the faults side by side, then mends everything; gives where its traces are, and what was killed. */
async function disturb(
  scenario: Scenario,
  { acts, faults, swarm }: Plan,
): Promise<{ readonly traces: Traces; readonly strikes: readonly Strike[] }> {
  const { stack, prefix } = scenario;
  const seconds = await Promise.all(swarm.doubled.map((name) => stack.replicate(name)));
  const firsts = new Set([...swarm.targets.map(({ service }) => service), ...swarm.doubled]);
  const victims: readonly Victim[] = [
    ...[...firsts].map((name) => ({ service: name, isSecond: false, kept: stack.service(name) })),
    ...seconds.map(({ service }) => ({ service: service.name, isSecond: true, kept: service })),
  ];
  const walletsBefore = await readWallets(stack);
  const calls: Call[] = [];
  const replicaUrl = seconds.find(({ service }) => service.name === 'payout-gateway')?.url;
  const clients = clientsOf(scenario, calls, replicaUrl);
  const clientOf = (merchantId: string): HistoryClient => {
    const client = clients.get(merchantId);
    if (!client) throw new Error(`no client of ${merchantId}`);
    return client;
  };
  const breaker = createBreaker({ stack, victims, log: print });
  const play = playActs(acts, { clientOf, clock: systemClock });
  await breaker.run(faults);
  const strikes = await breaker.heal();
  await play;
  return { traces: { stack, prefix, calls, walletsBefore }, strikes };
}

/** A client of each merchant; where two payout-gateways run, all merchants but the first pay by the second one. */
function clientsOf(
  { stack, merchantId }: Scenario,
  calls: Call[],
  replicaUrl: string | undefined,
): ReadonlyMap<string, HistoryClient> {
  const { transferUrl: firstUrl, collectionsUrl } = stack.runFile();
  return new Map(
    stack.merchants.map(({ id, publicKey }) => {
      const transferUrl = id === merchantId ? firstUrl : (replicaUrl ?? firstUrl);
      const client = createMerchantClient({ transferUrl, collectionsUrl, publicKey });
      return [id, createHistoryClient({ merchantId: id, client, calls, clock: systemClock })];
    }),
  );
}

type UnderWay = Awaited<ReturnType<Databases['underWay']>>;

const nothing: UnderWay = { outboxes: 0, deliveries: 0 };

/**
 * Waits until nothing is under way and the checker is content, and then until that has lasted; after the patience, gives
 * the world as it is. What was agreed must stay so: a late poll or a lease that runs out may move something yet.
 */
async function settled(traces: Traces): Promise<{ readonly world: World; readonly underWay: UnderWay }> {
  await using databases = await openDatabases(traces.stack.runFile().mongodbUrl, traces.prefix);
  const isQuiet = async () => {
    // The cheap question first, and the other one seldom: reading the world takes what the services need to come to rest.
    expect(await databases.underWay()).toEqual(nothing);
    const violations = checkWorld(await readWorld(traces, databases));
    if (violations.length > 0) {
      print(`${violations.length} violations yet, ${JSON.stringify(violations[0])}`);
      await passes(databases, (await databases.nowMs()) + LOOK_PAUSE_MS);
    }
    expect(violations).toEqual([]);
    return databases.nowMs();
  };
  const sinceMs = await eventually(isQuiet, REST_MS).catch(() => undefined);
  if (sinceMs !== undefined) await passes(databases, sinceMs + STAY_MS);
  const underWay = await databases.underWay();
  return { world: await readWorld(traces, databases), underWay };
}

/** Waits until the server's clock has passed a moment. */
async function passes({ nowMs }: Databases, momentMs: number): Promise<void> {
  await eventually(async () => {
    expect(await nowMs()).toBeGreaterThan(momentMs);
  }, 2 * STAY_MS);
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

import type { ServiceName } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import { createMerchantClient, type Replica } from '@pesewa/stack';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { checkWorld } from '../chaos/checker/check.ts';
import type { Call } from '../chaos/checker/world.ts';
import { explain } from '../chaos/explain.ts';
import { createHistoryClient } from '../chaos/load/client.ts';
import { playActs } from '../chaos/load/workload.ts';
import { createChance } from '../chaos/plan/chance.ts';
import { planActs } from '../chaos/plan/plan.ts';
import { readWallets } from '../chaos/read-rail.ts';
import { nothing, quickServices, report, untilAtRest } from '../chaos/rest.ts';
import { type Endpoints, openEndpoints } from './endpoints.ts';
import { openScenario, type Scenario } from './scenario.ts';

const SEED = 52;
/** More acts than the restarts take time for; when each is played is decided by the answers to those before. */
const load = { pauseMs: 50, misbehaving: 0, callbacksArrive: true };
/** So many merchants at work at a time, each of which goes on once it has its answers: a slow machine gets less to do. */
const LANES = 4;
const LOAD_MAX_MS = 200_000;
const REST_MS = 60_000;
/** As in the manifests (ADR 52): how long a process that ends takes another request on each open connection. */
const DRAIN_DELAY_MS = 2_000;
/** Shorter than that: a request on a connection that its server has just closed would be lost. */
const IDLE_MAX_MS = 300;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The services that merchants call: a third and fourth with two replicas would leave two cores no time to answer. */
const restarted = ['payout-gateway', 'collection-gateway'] as const;

/** Each of them behind its own address. */
type Fronts = Readonly<Partial<Record<ServiceName, Endpoints>>>;

/** Makes every client of this process close an idle connection before its server does. */
function giveUpIdleConnections(): void {
  const before = getGlobalDispatcher();
  const agent = new Agent({ keepAliveTimeout: IDLE_MAX_MS, keepAliveMaxTimeout: IDLE_MAX_MS });
  setGlobalDispatcher(agent);
  onTestFinished(async () => {
    setGlobalDispatcher(before);
    await agent.close();
  });
}

/** Starts a second replica of each; returns all replicas, reachable by the fronts. */
async function openReplicas({ stack }: Scenario, fronts: Fronts): Promise<readonly Replica[]> {
  const { operations } = stack.runFile();
  const pairs = await Promise.all(
    restarted.map(async (name) => {
      const first = {
        service: stack.service(name),
        url: stack.url(name),
        operationsUrl: operations[name] ?? '',
      };
      return [first, await stack.replicate(name)];
    }),
  );
  const replicas = pairs.flat();
  await Promise.all(replicas.map(async (replica) => fronts[replica.service.name]?.add(replica)));
  return replicas;
}

/** Starts merchants that pay and collect by the fronts until they are stopped; returns all their calls. */
function startLoad({ stack }: Scenario, fronts: Fronts) {
  const calls: Call[] = [];
  const over = new AbortController();
  const transferUrl = fronts['payout-gateway']?.url ?? '';
  const collectionsUrl = fronts['collection-gateway']?.url ?? '';
  const clients = new Map(
    stack.merchants.map(({ id, publicKey }) => {
      const client = createMerchantClient({ transferUrl, collectionsUrl, publicKey });
      return [id, createHistoryClient({ merchantId: id, client, calls, clock: systemClock })];
    }),
  );
  const clientOf = (id: string) => {
    const client = clients.get(id);
    if (!client) throw new Error(`no client of ${id}`);
    return client;
  };
  const acts = planActs(createChance(SEED), load, LOAD_MAX_MS).values();
  const deps = { clientOf, clock: systemClock };
  // The lanes share the acts: each takes the next one.
  const playing = Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const act of acts) {
        if (over.signal.aborted) return;
        await playActs([{ ...act, atMs: 0 }], deps);
      }
    }),
  );
  return {
    calls,
    end: async () => {
      over.abort();
      await playing;
    },
  };
}

/**
 * Restarts a replica as Kubernetes does: it leaves its service's endpoints, and gets its signal once new connections go
 * to the others, which the pause before the signal ensures. Open connections stay.
 */
async function restart(replica: Replica, front: Endpoints | undefined): Promise<string> {
  const startedMs = performance.now();
  await front?.remove(replica);
  const exit = await replica.service.restart();
  const endedMs = performance.now();
  expect(exit, replica.service.name).toEqual({ code: 0, signal: null });
  await replica.service.ready();
  await front?.add(replica);
  const took = [endedMs - startedMs, performance.now() - endedMs].map((ms) => `${Math.round(ms)} ms`);
  return `${replica.service.name}: ended in ${took[0]} (with its start), ready after ${took[1]}`;
}

/** The effects of a run that its merchants or the rail could notice. */
function noticed(calls: readonly Call[], fronts: Fronts) {
  return {
    failed: calls
      .filter(({ outcome }) => outcome === 'ambiguous' || outcome === 'strange')
      .map(
        ({ api, operation, failure, startedAtMs, endedAtMs }) =>
          `${api} ${operation}, after ${endedAtMs - startedAtMs} ms: ${failure}`,
      ),
    broken: Object.values(fronts).map((front) => front.broken()),
  };
}

function p99(calls: readonly Call[]): number {
  const durations = calls
    .map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs)
    .toSorted((a, b) => a - b);
  return durations[Math.floor(durations.length * 0.99)] ?? 0;
}

it('the gateways restart one replica after the other, and no request fails', async () => {
  giveUpIdleConnections();
  await using payouts = await openEndpoints();
  await using collections = await openEndpoints();
  const fronts: Fronts = { 'payout-gateway': payouts, 'collection-gateway': collections };
  const ending = { DRAIN_DELAY_MS: String(DRAIN_DELAY_MS) };
  await using scenario = await openScenario('rolling', {
    ...quickServices,
    'payout-gateway': ending,
    'collection-gateway': ending,
  });
  const { stack, prefix } = scenario;
  const replicas = await openReplicas(scenario, fronts);
  const walletsBefore = await readWallets(stack);
  const { calls, end } = startLoad(scenario, fronts);
  const startedMs = performance.now();
  for (const replica of replicas) print(await restart(replica, fronts[replica.service.name]));
  const restartedMs = performance.now() - startedMs;
  await end();
  const seconds = (performance.now() - startedMs) / 1_000;
  const perSecond = (calls.length / seconds).toFixed(1);
  print(
    `${replicas.length} restarts in ${Math.round(restartedMs / 1_000)} s; ${calls.length} requests, ${perSecond}/s, p99 ${p99(calls)} ms`,
  );
  expect(noticed(calls, fronts)).toEqual({ failed: [], broken: [0, 0] });
  expect(calls.length).toBeGreaterThan(replicas.length * LANES);
  const { world, underWay } = await untilAtRest(
    { stack, prefix, calls, walletsBefore },
    { restMs: REST_MS, print },
  );
  const violations = checkWorld(world);
  print(`${report(world)}\n${explain(world, violations)}`);
  expect(violations).toEqual([]);
  expect(underWay).toEqual(nothing);
}, 480_000);

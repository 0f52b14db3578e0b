import { randomInt } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { openScenario, type Scenario } from '../scenarios/scenario.ts';
import { checkWorld } from './checker/check.ts';
import { missedBy } from './checker/experience.ts';
import type { Call } from './checker/world.ts';
import type { Traces } from './dump.ts';
import { explain } from './explain.ts';
import { createBreaker, type Strike, type Victim } from './faults.ts';
import { createClientOf } from './load/client-of.ts';
import { playActs } from './load/workload.ts';
import { createPlan, intentOf, type Plan } from './plan/plan.ts';
import { usualLoadMs, usualSeeds } from './plan/seeds.ts';
import { readWallets } from './read-rail.ts';
import { nothing, quickServices, report, untilAtRest } from './rest.ts';

const wanted = process.env['SEED'];
const seeds =
  wanted === undefined ? usualSeeds : [wanted === 'random' ? randomInt(1, 2 ** 31) : Number(wanted)];
const loadMs = Number(process.env['CHAOS_SECONDS'] ?? usualLoadMs / 1_000) * 1_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** How long the system may take to come to rest once everything is repaired. */
const REST_MS = 120_000;
const OPEN_MS = 120_000;

it.each(seeds)(
  'whatever breaks, all sides agree once it is fixed: seed %d',
  async (seed) => {
    const replay = `SEED=${seed} CHAOS_SECONDS=${loadMs / 1_000} pnpm exec vitest run --project scenarios test/chaos`;
    print(`seed ${seed}: ${replay}`);
    const plan = createPlan(seed, loadMs);
    print(JSON.stringify({ ...plan.swarm, acts: plan.acts.length }));
    await using scenario = await openScenario('chaos', quickServices);
    const { traces, strikes } = await disturb(scenario, plan);
    const { world, underWay } = await untilAtRest(traces, { restMs: REST_MS, print });
    const violations = checkWorld(world);
    print(`${report(world)}\n${explain(world, violations)}`);
    expect(violations, replay).toEqual([]);
    expect(underWay, replay).toEqual(nothing);
    expect(missedBy(world, intentOf(plan), strikes), replay).toEqual([]);
  },
  OPEN_MS + 3 * loadMs + 3 * REST_MS,
);

/**
 * Runs the load and the faults in parallel, then repairs everything; gives where its traces are, and what was killed.
 */
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
  const clientOf = createClientOf(scenario, calls, replicaUrl);
  const breaker = createBreaker({ stack, victims, log: print });
  const play = playActs(acts, { clientOf, clock: systemClock });
  await breaker.run(faults);
  const strikes = await breaker.heal();
  await play;
  return { traces: { stack, prefix, calls, walletsBefore }, strikes };
}

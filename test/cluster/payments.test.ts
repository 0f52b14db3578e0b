import { randomInt } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { checkWorld } from '../chaos/checker/check.ts';
import type { Call } from '../chaos/checker/world.ts';
import { explain } from '../chaos/explain.ts';
import { createClientOf } from '../chaos/load/client-of.ts';
import { playActs } from '../chaos/load/workload.ts';
import { readWallets } from '../chaos/read-rail.ts';
import { nothing, quickServices, report, untilAtRest } from '../chaos/rest.ts';
import { openScenario } from '../scenarios/scenario.ts';
import { breakNodes } from './break-nodes.ts';
import { countsOf } from './counts.ts';
import { createClusterPlan } from './plan/plan.ts';
import { usualLoadMs, usualSeeds } from './plan/seeds.ts';
import { sharedCluster } from './shared-cluster.ts';

const wanted = process.env['SEED'];
const seeds =
  wanted === undefined ? usualSeeds : [wanted === 'random' ? randomInt(1, 2 ** 31) : Number(wanted)];
const loadMs = Number(process.env['CHAOS_SECONDS'] ?? usualLoadMs / 1_000) * 1_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** How long the system may take to come to rest once all nodes are up. */
const REST_MS = 150_000;
const OPEN_MS = 120_000;

it.each(seeds)(
  'whichever nodes break, every payment ends once and all sides agree: seed %d',
  async (seed) => {
    const replay = `SEED=${seed} CHAOS_SECONDS=${loadMs / 1_000} pnpm exec vitest run --project cluster payments`;
    const { steps, acts } = createClusterPlan(seed, loadMs);
    print(`seed ${seed}: ${replay}\n${steps.length} steps, ${acts.length} acts`);
    const cluster = await sharedCluster();
    await using scenario = await openScenario('cluster', quickServices, {}, () => Promise.resolve(cluster));
    const { stack, prefix } = scenario;
    const walletsBefore = await readWallets(stack);
    const calls: Call[] = [];
    const play = playActs(acts, { clientOf: createClientOf(scenario, calls), clock: systemClock });
    const struck = await breakNodes(cluster, steps, print);
    await play;
    const { world, underWay, restedAfterMs } = await untilAtRest(
      { stack, prefix, calls, walletsBefore },
      { restMs: REST_MS, print },
    );
    const violations = checkWorld(world);
    const counts = countsOf(world, violations, { struck, restedAfterMs });
    print(`${JSON.stringify(counts)}\n${report(world)}\n${explain(world, violations)}`);
    expect(violations, replay).toEqual([]);
    expect(underWay, replay).toEqual(nothing);
    expect(counts.accepted, replay).toBeGreaterThan(acts.length / 2);
  },
  OPEN_MS + 4 * loadMs + 3 * REST_MS,
);

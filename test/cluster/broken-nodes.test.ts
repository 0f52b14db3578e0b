import { randomInt } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkWorld } from '../chaos/checker/check.ts';
import type { Violation } from '../chaos/checker/rules.ts';
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
import { usualLoadMs, usualSeed } from './plan/seeds.ts';
import { openRoad, type RoadFound } from './road.ts';
import { sharedCluster } from './shared-cluster.ts';

const wanted = process.env['SEED'];
const seed = wanted === 'random' ? randomInt(1, 2 ** 31) : Number(wanted ?? usualSeed);
const loadMs = Number(process.env['CHAOS_SECONDS'] ?? usualLoadMs / 1_000) * 1_000;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** How long the system may take to come to rest once all nodes are up. */
const REST_MS = 150_000;
const OPEN_MS = 120_000;
/** How many outbox records arrive between two steps at least, so that each step meets messages under way. */
const RECORDS_BETWEEN = 2;

const replay = `SEED=${seed} CHAOS_SECONDS=${loadMs / 1_000} pnpm exec vitest run --project cluster broken-nodes`;
const { steps, acts } = createClusterPlan(seed, loadMs);

describe(`whichever nodes break: ${replay}`, () => {
  let underWay: unknown;
  let violations: readonly Violation[];
  let accepted: number;
  let road: RoadFound;

  beforeAll(
    async () => {
      print(`${replay}\n${steps.length} steps, ${acts.length} acts`);
      const cluster = await sharedCluster();
      await using scenario = await openScenario('cluster', quickServices, {}, () => Promise.resolve(cluster));
      await using sending = await openRoad(cluster.env);
      const { stack, prefix } = scenario;
      const walletsBefore = await readWallets(stack);
      const calls: Call[] = [];
      const play = playActs(acts, { clientOf: createClientOf(scenario, calls), clock: systemClock });
      const struck = await breakNodes(cluster, steps, {
        isWell: () => sending.progress(RECORDS_BETWEEN),
        print,
      });
      road = await sending.arrive();
      await play;
      const rest = await untilAtRest({ stack, prefix, calls, walletsBefore }, { restMs: REST_MS, print });
      ({ underWay } = rest);
      violations = checkWorld(rest.world);
      const counts = countsOf(rest.world, violations, { struck, restedAfterMs: rest.restedAfterMs });
      ({ accepted } = counts);
      print(`${JSON.stringify(road)}\n${JSON.stringify(counts)}`);
      print(`${report(rest.world)}\n${explain(rest.world, violations)}`);
    },
    OPEN_MS + 8 * loadMs + 3 * REST_MS,
  );

  it('every payment ends once and all sides agree', () => {
    expect(violations).toEqual([]);
    expect(underWay).toEqual(nothing);
    expect(accepted).toBeGreaterThan(acts.length / 2);
  });

  it('all that was committed is in Kafka, and in order for each key', () => {
    expect(road).toMatchObject({ lost: 0, outOfOrder: 0 });
  });
});

import { createChance } from '../../chaos/plan/chance.ts';
import { type Act, type Load, planActs } from '../../chaos/plan/plan.ts';
import { durationMsOf, planSteps, type Step } from './faults.ts';

/** All that a seed decides. */
export interface ClusterPlan {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly acts: readonly Act[];
}

/**
 * More than thirty payments a second, few of which misbehave, because the nodes do. An absent member may cost a
 * callback.
 */
const load: Load = { pauseMs: 30, misbehaving: 0.1, callbacksArrive: false };

/** Plans a run: merchants act for as long as the steps take. */
export function createClusterPlan(seed: number, loadMs: number): ClusterPlan {
  const chance = createChance(seed);
  const steps = planSteps(chance, loadMs);
  const stepsMs = steps.reduce((sum, step) => sum + durationMsOf(step), 0);
  return { seed, steps, acts: planActs(chance, load, stepsMs) };
}

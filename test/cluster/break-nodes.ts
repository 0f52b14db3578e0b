import type { Cluster, Node } from '@pesewa/infrastructure';
import { systemClock } from '@pesewa/kernel';
import type { Step, Strike } from './plan/faults.ts';

/** Strikes as they really happened. */
export interface Struck extends Strike {
  readonly atMs: number;
}

/** What happens around the steps. */
export interface Around {
  /** Resolves once the system works again, before the next step. */
  readonly isWell: () => Promise<void>;
  readonly print: (line: string) => void;
}

/** Breaks nodes step by step as planned, each step once everything is well again; gives what was done. */
export async function breakNodes(
  cluster: Pick<Cluster, 'brokers' | 'members'>,
  steps: readonly Step[],
  { isWell, print }: Around,
): Promise<readonly Struck[]> {
  const startedMs = performance.now();
  const sinceMs = (): number => Math.round(performance.now() - startedMs);
  const done: Struck[] = [];
  const nodeOf = ({ node, index }: Strike): Node => {
    const found = (node === 'broker' ? cluster.brokers : cluster.members)[index];
    if (!found) throw new RangeError(`no ${node} ${index}`);
    return found;
  };
  for (const { pauseMs, strikes, downMs } of steps) {
    await isWell();
    await systemClock.sleep(pauseMs);
    const fixes = await Promise.all(strikes.map((strike) => breakNode(nodeOf(strike), strike.kind)));
    done.push(...strikes.map((strike) => ({ ...strike, atMs: sinceMs() })));
    await systemClock.sleep(downMs);
    const what = strikes.map((strike) => `${strike.kind} ${nodeOf(strike).name}`).join(', ');
    print(`${sinceMs()} ms: ${what}, down for ${downMs} ms`);
    await Promise.all(fixes.map((fix) => fix()));
  }
  return done;
}

/** Breaks a node; gives the function that restores it, which resolves once the node has its role again. */
async function breakNode(node: Node, kind: Strike['kind']): Promise<() => Promise<void>> {
  switch (kind) {
    case 'kill':
      await node.kill();
      return node.start;
    case 'stop':
      await node.stop();
      return node.start;
    case 'pause':
      node.pause();
      return async () => {
        node.resume();
        await node.ready();
      };
  }
}

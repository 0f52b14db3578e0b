import { connect } from 'node:net';
import { systemClock } from '@pesewa/kernel';
import type { Cluster, Node } from '@pesewa/stack';
import { expect } from 'vitest';
import type { Step, Strike } from './plan/faults.ts';

/** Strikes as they really happened. */
export interface Struck extends Strike {
  readonly atMs: number;
}

/** Breaks nodes step by step as planned, each step once everything is well again; gives what was done. */
export async function breakNodes(
  cluster: Pick<Cluster, 'brokers' | 'members'>,
  steps: readonly Step[],
  print: (line: string) => void,
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

/**
 * Breaks a node; gives the function that restores it, which resolves once the node has its role again.
 *
 * Fails if the node was not struck: a process that ended takes no connection and comes back as another one, and one that
 * is paused keeps its connections and goes on.
 */
async function breakNode(node: Node, kind: Strike['kind']): Promise<() => Promise<void>> {
  const before = node.pid();
  if (kind === 'pause') {
    node.pause();
    expect(await listens(node), node.name).toBe(true);
    return async () => {
      node.resume();
      await node.ready();
      expect(node.pid(), node.name).toBe(before);
    };
  }
  await (kind === 'kill' ? node.kill() : node.stop());
  expect(await listens(node), node.name).toBe(false);
  return async () => {
    await node.start();
    expect(node.pid(), node.name).not.toBe(before);
  };
}

/** Whether something takes connections there; a paused process does, by its kernel. */
function listens({ address }: Node): Promise<boolean> {
  const [host = '', port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    const finish = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', finish(true)).once('error', finish(false));
  });
}

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { systemClock } from '@pesewa/kernel';
import type { Replica } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';

/** One address for a service with several replicas: each connection goes to the next replica that is ready. */
export interface Endpoints extends AsyncDisposable {
  readonly url: string;
  /** Resolves once new connections also go to the replica. */
  readonly add: (replica: Replica) => Promise<void>;
  /** Resolves once no new connection goes to the replica; open ones stay. */
  readonly remove: (replica: Replica) => Promise<void>;
  /** The number of connections that no replica accepted, or that a replica reset. */
  readonly broken: () => number;
}

/** The pause between two readiness checks of the replicas. */
const LOOK_PAUSE_MS = 200;

/** Opens {@link Endpoints} that balance connections as Kubernetes does, over ready replicas that are not ending. */
export async function openEndpoints(): Promise<Endpoints> {
  const closing = new AbortController();
  const replicas = new Set<Replica>();
  let ready: readonly Replica[] = [];
  let turn = 0;
  let broken = 0;
  const open = new Set<Socket>();

  const server = createServer((client) => {
    turn += 1;
    const replica = ready[turn % ready.length];
    const upstream = replica && connect(Number(new URL(replica.url).port), '127.0.0.1');
    for (const socket of [client, upstream]) {
      if (!socket) continue;
      socket.setNoDelay(true);
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
    if (!upstream) {
      broken += 1;
      client.destroy();
      return;
    }
    upstream.once('error', () => {
      broken += 1;
      client.resetAndDestroy();
    });
    client.once('error', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });

  const isReady = ({ operationsUrl }: Replica) =>
    fetch(`${operationsUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const looking = (async () => {
    while (!closing.signal.aborted) {
      const asked = [...replicas];
      const answers = await Promise.all(asked.map(isReady));
      ready = asked.filter((replica, at) => answers[at] === true && replicas.has(replica));
      await systemClock.sleep(LOOK_PAUSE_MS, closing.signal);
    }
  })();

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: async (replica) => {
      replicas.add(replica);
      await eventually(() => expect(ready).toContain(replica));
    },
    remove: async (replica) => {
      replicas.delete(replica);
      await eventually(() => expect(ready).not.toContain(replica));
    },
    broken: () => broken,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await looking;
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

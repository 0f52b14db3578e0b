import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { StartError, systemCode } from './errors.ts';

/**
 * A port that no other process can take until `release`, which the owner calls right before its daemon binds it.
 * Afterwards it is still no one else's reserved port while the owner lives, so that a daemon may stop and start again.
 */
export interface ReservedPort {
  readonly port: number;
  release(): Promise<void>;
}

const loopback = '127.0.0.1';

// Below the kernel's range for outgoing connections (32768 and up), so that none of those can take the port between
// `release` and the daemon's bind.
const lowestPort = 20_000;
const highestPort = 26_000;
// A reserved port's guard is the port so far above it, which its owner holds until it ends: two stacks that start at the
// same time would otherwise choose the same port between a release and a bind.
const guardDistance = 6_000;
const attemptsBelowEphemeral = 50;

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen({ port, host: loopback, exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}

function held(server: Server): ReservedPort {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new StartError('a held port has no address');
  return {
    port: address.port,
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function holdFreePort(choose: () => number): Promise<ReservedPort> {
  for (let attempt = 0; attempt < attemptsBelowEphemeral; attempt += 1) {
    const port = choose();
    try {
      const guard = await listen(port + guardDistance);
      return await listen(port).then(held, (error: unknown) => {
        guard.close();
        throw error;
      });
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE' && systemCode(error) !== 'EACCES') throw error;
    }
  }
  return held(await listen(0));
}

/** Reserves `count` different free loopback ports, which `choose` proposes. */
export async function reservePorts(
  count: number,
  choose = () => randomInt(lowestPort, highestPort),
): Promise<ReservedPort[]> {
  const ports: ReservedPort[] = [];
  for (let index = 0; index < count; index += 1) ports.push(await holdFreePort(choose));
  return ports;
}

/**
 * Reserves a given loopback port. `setting` names what the user can set to change the port, as in
 * `PAYOUT_GATEWAY_PORT`. Rejects with a one-line StartError if the port is taken.
 */
export async function reservePort(port: number, setting = 'another port'): Promise<ReservedPort> {
  try {
    return held(await listen(port));
  } catch (error) {
    if (systemCode(error) === 'EADDRINUSE') {
      throw new StartError(`port ${port} is taken: stop what listens there or set ${setting}`);
    }
    if (systemCode(error) === 'EACCES') {
      throw new StartError(`port ${port} needs more rights than this user has: set ${setting}`);
    }
    throw error;
  }
}

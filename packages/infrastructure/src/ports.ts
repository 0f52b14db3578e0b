import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { StartError, systemCode } from './errors.ts';

/** A port that no other process can take until `release`, which the owner calls right before its daemon binds it. */
export interface ReservedPort {
  readonly port: number;
  release(): Promise<void>;
}

const loopback = '127.0.0.1';

// Below the kernel's range for outgoing connections (32768 and up), so that none of those can take the port between
// `release` and the daemon's bind.
const lowestPort = 20_000;
const highestPort = 32_000;
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

async function holdFreePort(): Promise<ReservedPort> {
  for (let attempt = 0; attempt < attemptsBelowEphemeral; attempt += 1) {
    try {
      return held(await listen(randomInt(lowestPort, highestPort)));
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE' && systemCode(error) !== 'EACCES') throw error;
    }
  }
  return held(await listen(0));
}

/** Reserves `count` different free loopback ports. */
export async function reservePorts(count: number): Promise<ReservedPort[]> {
  const ports: ReservedPort[] = [];
  for (let index = 0; index < count; index += 1) ports.push(await holdFreePort());
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

import { defineService, serveHttp } from '@pesewa/runtime';
import { settings } from './config.ts';
import { openSimulator } from './simulator.ts';

/** The simulator of a rail, as a process runs it. */
export const providerSimulator = defineService({
  name: 'provider-simulator',
  settings,
  compose: async (scope) => {
    const { config, clock, ids, logger, requests, abort, open } = scope;
    const simulator = await open('simulator', openSimulator({ config, clock, ids, logger, onBroken: abort }));
    const { HOST: host, PORT: port } = config;
    await open('public port', serveHttp({ app: simulator.app, host, port, requests }));
    await open('held answers', {
      [Symbol.asyncDispose]: () => {
        simulator.releaseHeld();
        return Promise.resolve();
      },
    });
  },
});

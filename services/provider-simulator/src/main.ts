import { runService, serveHttp } from '@pesewa/runtime';
import { configSchema, environment } from './config.ts';
import { openSimulator } from './simulator.ts';

const service = { name: 'provider-simulator', settings: configSchema, environment };

await runService(service, async (scope) => {
  const { config, clock, ids, logger, requests, abort, open } = scope;
  const simulator = await open(openSimulator({ config, clock, ids, logger, onBroken: abort }));
  await open(serveHttp({ app: simulator.app, host: config.HOST, port: config.PORT, requests }));
  await open({
    [Symbol.asyncDispose]: () => {
      simulator.releaseHeld();
      return Promise.resolve();
    },
  });
});

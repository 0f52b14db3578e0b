import { runService, serveHttp } from '@pesewa/runtime';
import { configSchema, environment } from './config.ts';
import { openSimulator } from './simulator.ts';

await runService('provider-simulator', configSchema, environment, async (scope) => {
  const { config, clock, ids, logger, abort, open } = scope;
  const simulator = await open(openSimulator({ config, clock, ids, logger, onBroken: abort }));
  await open(serveHttp({ app: simulator.app, host: config.HOST, port: config.PORT }));
  await open({
    [Symbol.asyncDispose]: () => {
      simulator.releaseHeld();
      return Promise.resolve();
    },
  });
});

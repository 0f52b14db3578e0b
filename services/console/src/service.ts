import { readTrustedProxies } from '@pesewa/addresses';
import { defineService, publicPort, serveHttp } from '@pesewa/runtime';
import { Counter } from 'prom-client';
import { createApp } from './app.ts';
import { settings } from './config.ts';
import { createIssuer } from './issuer.ts';
import { createSandbox } from './sandbox.ts';
import { createSessions } from './sessions.ts';
import { createUpstream } from './upstream.ts';

const KEY_BYTES = 32;

/** The console, as a process runs it. */
export const operatorConsole = defineService({
  name: 'console',
  settings,
  compose: async (scope) => {
    const { config, clock, ids, logger, metrics, random } = scope;
    const isProduction = config.NODE_ENV === 'production';
    const ownOrigin = config.PUBLIC_ORIGIN ?? `http://127.0.0.1:${config.PORT}`;
    const sealing = { keys: config.SESSION_KEYS ?? [random.bytes(KEY_BYTES)], isProduction };
    const sessions = createSessions({
      ...sealing,
      idleMs: config.SESSION_IDLE_MINUTES * 60_000,
      absoluteMs: config.SESSION_HOURS * 3_600_000,
    });
    const openUpstream = createUpstream({
      ledger: config.LEDGER_URL,
      reconciler: config.RECONCILER_URL,
      'payout-gateway': config.PAYOUT_GATEWAY_URL,
      'collection-gateway': config.COLLECTION_GATEWAY_URL,
      'webhook-ingress': config.WEBHOOK_INGRESS_URL,
      'webhook-dispatcher': config.WEBHOOK_DISPATCHER_URL,
    });
    const signIns = new Counter({
      name: 'pesewa_console_sign_ins_total',
      help: 'Sign-ins by result: signed_in, refused, slowed, unavailable.',
      labelNames: ['result'],
      registers: [metrics],
    });
    const app = createApp({
      sessions,
      openUpstream,
      clock,
      logger,
      randomBytes: random.bytes,
      proxies: readTrustedProxies(config),
      counted: (result) => signIns.inc({ result }),
      ownOrigin,
      issuer: createIssuer(config, { ownOrigin, clock, logger, sealing }),
      isProduction,
      zone: config.TIME_ZONE,
      newId: () => ids.next('cm'),
      sandbox: config.SANDBOX && createSandbox(config.SANDBOX),
    });
    await scope.open('public port', serveHttp({ ...publicPort(config), app, requests: scope.requests }));
  },
});

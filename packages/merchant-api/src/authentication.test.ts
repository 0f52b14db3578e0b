import { DirectoryError } from '@pesewa/directory';
import { createLogger } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { authenticate } from './authentication.ts';

/** What an API answers to a request whose key is looked up so. */
async function answerOver(identify: () => Promise<undefined>): Promise<string> {
  const app = new Hono();
  app.onError((error, context) => context.text(`broken: ${error.message}`));
  const logger = createLogger({ name: 'test', level: 'silent' });
  const clock = { nowMs: () => 0 };
  const deps = {
    identify,
    logger,
    clock,
    proxies: { trustedProxies: 0 },
    limitRequest: async () => undefined,
  };
  app.use(
    authenticate(deps, {
      scope: 'payouts',
      keyOf: () => 'ZGVtbw==',
      refuse: (context, refusal) => context.text(refusal.kind),
    }),
  );
  return (await app.request('/')).text();
}

it('distinguishes an unknown key from a directory that is out of reach', async () => {
  expect(await answerOver(async () => undefined)).toBe('unknown');
  expect(await answerOver(() => Promise.reject(new Error('no primary')))).toBe('unavailable');
});

it('breaks on a merchant that is stored wrongly', async () => {
  expect(await answerOver(() => Promise.reject(new DirectoryError('malformed')))).toBe('broken: malformed');
});

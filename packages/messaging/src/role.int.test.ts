import { openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { handleTopic, openMessaging } from './index.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

it('a service neither consumes, reads nor emits beyond what it is declared to use', async () => {
  await using scope = openTestScope(config);
  const messaging = await openMessaging(scope, { service: 'webhook-dispatcher' });
  expect(messaging.db.databaseName).toBe(`${config.DATABASE_PREFIX}webhooks`);
  const handling = { 'pesewa.wallets.WalletBalanceChanged': 'handled' } as const;
  const balances = handleTopic('wallets', handling, async () => undefined);
  await expect(messaging.consume([balances])).rejects.toThrow(
    'webhook-dispatcher consumes wallets, and is declared to consume collections, payouts',
  );
  expect(() => messaging.database('ledger')).toThrow('not declared');
  await expect(messaging.ends(['ledger'], 1_000)).rejects.toThrow('not declared');
  const emitting = messaging.inTransaction(async ({ emit }) => {
    emit({
      topic: 'wallets',
      key: 'demo:KES',
      type: 'pesewa.wallets.WalletBalanceChanged',
      version: 1n,
      causationId: null,
      payload: { occurredAt: 1n, merchantId: 'demo', currency: 'KES', available: 1n, held: 0n, sequence: 1n },
    });
  });
  await expect(emitting).rejects.toThrow(
    /does not travel on .*wallets.* or this service does not produce it/,
  );
});

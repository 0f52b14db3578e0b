import { randomUUID } from 'node:crypto';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { type Messaging, openMessaging, openMessagingAs } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import {
  createTestKafka,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
} from '@pesewa/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBalances, type WalletBalance } from './balances.ts';
import { createHandlers } from './handlers.ts';

let config: TestConfig;
let scope: TestScope;
let ledger: Messaging;
const ids = createIds(systemClock, systemRandom);
const logger = createLogger({ name: 'test', level: 'silent' });

beforeAll(async () => {
  config = await prepareTestEnvironment();
  scope = openTestScope(config);
  ledger = await openMessagingAs(scope, { service: 'ledger', database: 'ledger', produces: ['wallets'] });
});
afterAll(() => scope[Symbol.asyncDispose]());

const wallet = (sequence: bigint, available: bigint, merchantId = 'demo'): WalletBalance => ({
  merchantId,
  currency: 'NGN',
  available,
  held: 5n,
  sequence,
});

/** Publishes balances as the ledger does, in this order. */
async function publish(balances: readonly WalletBalance[]): Promise<void> {
  const commit = ledger.groupCommit<WalletBalance, void>(
    `test-${randomUUID()}`,
    async (items, transaction) => {
      for (const balance of items) {
        transaction.emit({
          topic: 'wallets',
          key: `${balance.merchantId}:${balance.currency}`,
          version: balance.sequence,
          causationId: null,
          type: 'pesewa.wallets.WalletBalanceChanged',
          payload: { eventId: `ev-${ids.next('rn')}`, occurredAt: BigInt(Date.now()), ...balance },
        });
      }
      return items.map(() => undefined);
    },
  );
  await Promise.all(balances.map((balance) => commit.submit(balance)));
}

/** A gateway that only projects balances. */
async function openGateway() {
  const own = openTestScope(config);
  const messaging = await openMessaging(own, { service: 'payout-gateway' });
  const balances = openBalances({ db: messaging.db, clock: systemClock, logger });
  await messaging.consume(
    createHandlers({
      payouts: { apply: async () => [] },
      store: { findByReferences: async () => [] },
      balances,
      clock: systemClock,
      resubmitGraceMs: 0,
      claimDue: (changes) => changes,
      becameDue: () => undefined,
    }),
  );
  return { own, messaging, balances, wallets: messaging.db.collection('wallets') };
}

test('balances are projected by their sequence, and a replay of the topic changes nothing', async () => {
  const first = await openGateway();
  await publish([wallet(1n, 100n), wallet(2n, 40n), wallet(7n, 1n, 'rival')]);
  await eventually(async () => {
    expect(await first.balances.available('demo', ['NGN'])).toEqual(new Map([['NGN', 40n]]));
    expect(await first.balances.available('rival', ['NGN'])).toEqual(new Map([['NGN', 1n]]));
  });
  expect(await first.balances.canSpend({ merchantId: 'demo', currency: 'NGN' }, 40n)).toBe(true);
  expect(await first.balances.canSpend({ merchantId: 'demo', currency: 'NGN' }, 41n)).toBe(false);

  await publish([wallet(1n, 999n), wallet(8n, 2n, 'rival')]);
  await eventually(async () => {
    expect(await first.balances.available('rival', ['NGN'])).toEqual(new Map([['NGN', 2n]]));
  });
  expect(await first.balances.available('demo', ['NGN'])).toEqual(new Map([['NGN', 40n]]));

  const before = await first.wallets.find().sort({ _id: 1 }).toArray();
  expect(before).toEqual([
    { _id: 'demo:NGN', available: 40n, held: 5n, sequence: 2n },
    { _id: 'rival:NGN', available: 2n, held: 5n, sequence: 8n },
  ]);
  await first.own[Symbol.asyncDispose]();

  // Without its offsets the group begins again: every message of the topic is applied once more.
  const admin = createTestKafka(config).admin();
  await admin.connect();
  await admin.deleteGroups([`${config.TOPIC_PREFIX}payout-gateway`]);
  await admin.disconnect();
  await ledger.database('payouts').collection('consumer_offsets').deleteMany({});
  await ledger.database('payouts').collection<{ _id: string }>('wallets').deleteOne({ _id: 'rival:NGN' });
  const second = await openGateway();
  await eventually(async () => {
    expect(await second.wallets.find().sort({ _id: 1 }).toArray()).toEqual(before);
  });
  await second.own[Symbol.asyncDispose]();
});

test('within one transaction the newest wins, in whatever order the balances come', async () => {
  const balances = openBalances({ db: scopeDatabase(), clock: systemClock, logger });
  const apply = (...changes: readonly WalletBalance[]) =>
    ledger.client.withSession((session) => session.withTransaction(() => balances.apply(changes, session)));
  await apply(wallet(3n, 30n), wallet(1n, 10n), wallet(2n, 20n));
  await apply(wallet(2n, 99n));
  await apply(wallet(3n, 30n));
  await apply();
  expect(await scopeDatabase().collection('wallets').find().toArray()).toEqual([
    { _id: 'demo:NGN', available: 30n, held: 5n, sequence: 3n },
  ]);
});

test('of balances of one sequence the later event counts, as from a restored ledger; repeated it changes nothing', async () => {
  const db = ledger.database('restored');
  const balances = openBalances({ db, clock: systemClock, logger });
  const apply = (...changes: readonly WalletBalance[]) =>
    ledger.client.withSession((session) => session.withTransaction(() => balances.apply(changes, session)));
  const stored = () => db.collection('wallets').find().toArray();
  const row = (sequence: bigint, available: bigint) => [{ _id: 'demo:NGN', available, held: 5n, sequence }];
  await apply(wallet(3n, 30n));
  await apply(wallet(3n, 70n));
  expect(await stored()).toEqual(row(3n, 70n));
  await apply(wallet(3n, 70n));
  expect(await stored()).toEqual(row(3n, 70n));
  await apply(wallet(4n, 10n), wallet(4n, 60n), wallet(3n, 70n));
  expect(await stored()).toEqual(row(4n, 60n));
  await apply(wallet(3n, 70n));
  expect(await stored()).toEqual(row(4n, 60n));
});

const scopeDatabase = () => ledger.database('projection');

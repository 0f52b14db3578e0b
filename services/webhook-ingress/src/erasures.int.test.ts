import { randomUUID } from 'node:crypto';
import { createIds, DAY_MS, systemClock, systemRandom } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase, startEraser } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { eventually } from '@pesewa/testkit';
import { Binary } from 'mongodb';
import { expect, test } from 'vitest';
import { callbackDatabaseSchema } from './database-schema.ts';
import type { CallbackDocument } from './documents.ts';
import { bodiesAndSenders } from './erasures.ts';
import { openCallbackStore } from './store.ts';

/** A callback that was received so many days ago, as MongoDB holds it. */
function callback(daysAgo: number, state: CallbackDocument['state']): CallbackDocument {
  const nowMs = () => systemClock.nowMs() - daysAgo * DAY_MS;
  const at = new Date(nowMs());
  const id = createIds({ ...systemClock, nowMs }, systemRandom).next('cb');
  const verdict = { address: 'any', signature: 'not_required', proven: false } as const;
  const request = {
    rail: 'upstream',
    kind: 'payout',
    digest: id,
    messageId: null,
    verdict,
    receivedAt: at,
  } as const;
  const body = new Binary(Buffer.from('{"accountName":"Ama Mensah"}'));
  const claim = {
    reference: `po-${id}`,
    claimedStatus: 'COMPLETED',
    claimedAmount: '10',
    claimedCurrency: null,
  };
  const reception = { timesPassedOn: 1, deliveries: 1, lastReceivedAt: at, conflicts: 0, otherDigests: [] };
  return {
    _id: id,
    id,
    ...request,
    body,
    headers: [{ name: 'user-agent', value: 'rail/1' }],
    clientAddress: '203.0.113.7',
    ...claim,
    claimedFee: null,
    claimedReason: 'paid to Ama',
    ...reception,
    state,
    failure: null,
    passedOnAt: at,
    passedOnDigest: null,
    forgetAt: new Date(at.getTime() + 400 * DAY_MS),
  };
}

test('an old callback loses its body and its sender, and keeps what it claimed; one that failed waits with both', async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  await using database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  const { db } = database;
  await ensureDatabaseSchema(db, callbackDatabaseSchema);
  const callbacks = db.collection<CallbackDocument>('callbacks');
  const [old, failed, young] = [
    callback(100, 'passed_on'),
    callback(100, 'failed'),
    callback(80, 'passed_on'),
  ];
  await callbacks.insertMany([old, failed, young]);
  const logger = createLogger({ name: 'test', level: 'silent' });
  await using _eraser = startEraser({ db, owner: 'one', clock: systemClock, logger }, bodiesAndSenders, 90);
  await eventually(async () =>
    expect(await callbacks.findOne({ id: old.id })).toHaveProperty('erased', true),
  );
  const erased = await callbacks.findOne({ id: old.id });
  expect(erased).toMatchObject({
    headers: [],
    claimedReason: null,
    claimedAmount: '10',
    reference: old.reference,
  });
  expect(erased?.body.length()).toBe(0);
  for (const gone of ['clientAddress', 'peerAddress']) expect(erased).not.toHaveProperty(gone);

  const store = openCallbackStore(db, { keepDays: 400, unverifiedKeepDays: 30 });
  expect(await store.find(old.id)).toBeUndefined();
  for (const { id } of [failed, young]) {
    const found = await store.find(id);
    expect(Buffer.from(found?.body ?? []).toString()).toContain('Ama Mensah');
  }
  await db.dropDatabase();
});

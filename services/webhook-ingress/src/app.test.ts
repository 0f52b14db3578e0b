import { createHash } from 'node:crypto';
import { accept, type Clock, refuse } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { expect, test } from 'vitest';
import { createApp } from './app.ts';
import { type CallbackRefusal, type Callbacks, createCallbacks } from './callbacks.ts';
import type { Callback, CallbackRequest } from './domain/callback.ts';
import { createCallbackEvents } from './events.ts';
import type { CallbackStore } from './store.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
/** A clock whose sleepers wake only when told to give up. */
const clock: Clock = {
  nowMs: () => 1_000,
  sleep: (_durationMs, signal) =>
    new Promise((resolve) => {
      signal?.addEventListener('abort', () => resolve());
    }),
};
const ids = { next: (prefix: string) => `${prefix}-1` };

const callbackBody = JSON.stringify({
  data: {
    transactionStatus: 'COMPLETED',
    merchantReference: 'po-1',
    transactionReference: 'R-1',
    amount: 20.5,
    feeAmount: 0.1,
    valueAmount: 20.6,
    statusReason: 'Successful',
  },
});

/** An ingress over a store in memory, which notes what was committed. */
function open(faults: { readonly store?: Error } = {}) {
  const stored = new Map<string, Callback>();
  const rejected: CallbackRequest[] = [];
  const emitted: unknown[] = [];
  const store: Pick<CallbackStore, 'insert' | 'insertRejected'> = {
    insert: async (callbacks) => {
      if (faults.store) throw faults.store;
      return callbacks.map((callback) => {
        const isFresh = !stored.has(callback.digest);
        stored.set(callback.digest, stored.get(callback.digest) ?? callback);
        return isFresh;
      });
    },
    insertRejected: async (request) => {
      if (faults.store) throw faults.store;
      rejected.push(request);
    },
  };
  const callbacks = createCallbacks({
    store: { ...store, list: async () => [] },
    events: createCallbackEvents({ ids, clock }),
    ids,
    messaging: {
      groupCommit: (_name, apply) => ({
        submit: async (item) => {
          const transaction = {
            session: undefined as never,
            emit: (event: unknown) => void emitted.push(event),
            afterCommit: () => undefined,
          };
          const [outcome] = await apply([item], transaction, false);
          return outcome as never;
        },
      }),
    },
    rail: (name) =>
      name !== 'upstream'
        ? undefined
        : {
            provesCallback: (headers) => headers['webhook-signature'] === 'right',
            translateCallback: (_kind, text) =>
              text === callbackBody
                ? accept({
                    reference: 'po-1',
                    claimedStatus: 'COMPLETED',
                    claimedAmount: '20.5',
                    claimedFee: '0.1',
                    claimedReason: null,
                  })
                : refuse('callback.malformed'),
          },
  });
  const app = createApp({ callbacks, clock, logger, storeTimeoutMs: 1_000 });
  const post = async (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) => app.request(path, { method: 'POST', body, headers });
  return { post, stored, rejected, emitted };
}

test('a callback is stored with its evidence and told of, then answered 200', async () => {
  const ingress = open();
  const headers = { authorization: 'Bearer x', 'user-agent': 'rail/1', 'content-type': 'application/json' };
  const answer = await ingress.post('/rails/upstream/payouts', callbackBody, headers);
  expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
  const digest = createHash('sha256').update(callbackBody).digest('hex');
  const [callback] = ingress.stored.values();
  expect(callback).toMatchObject({
    rail: 'upstream',
    kind: 'payout',
    digest,
    verdict: 'hint',
    receivedAtMs: 1_000,
  });
  expect(Buffer.from(callback?.body ?? []).toString()).toBe(callbackBody);
  expect(callback?.headers.map(({ name }) => name).toSorted()).toEqual(['content-type', 'user-agent']);
  expect(ingress.emitted).toEqual([
    {
      topic: 'railNotices',
      key: 'po-1',
      version: 0n,
      causationId: null,
      type: 'pesewa.rails.CallbackReceived',
      payload: {
        eventId: 'ev-1',
        occurredAt: 1_000n,
        rail: 'upstream',
        reference: 'po-1',
        kind: 'payout',
        digest,
        claimedStatus: 'COMPLETED',
        claimedAmount: '20.5',
        claimedFee: '0.1',
        claimedReason: null,
      },
    },
  ]);
});

test('the same bytes again are answered 200 and told of once', async () => {
  const ingress = open();
  await ingress.post('/rails/upstream/payouts', callbackBody);
  expect((await ingress.post('/rails/upstream/payouts', callbackBody)).status).toBe(200);
  expect(ingress.emitted).toHaveLength(1);
});

test('a proven callback is marked so', async () => {
  const ingress = open();
  await ingress.post('/rails/upstream/payouts', callbackBody, { 'webhook-signature': 'right' });
  expect([...ingress.stored.values()][0]?.verdict).toBe('proven');
});

test.each(['{"data":', '{}', '', 'plain text'])(
  '%j is kept as rejected, answered 400 and not told of',
  async (body) => {
    const ingress = open();
    const answer = await ingress.post('/rails/upstream/payouts', body, { cookie: 'a=b' });
    expect(answer.status).toBe(400);
    expect(ingress.rejected.map((request) => Buffer.from(request.body).toString())).toEqual([body]);
    expect(ingress.rejected[0]?.headers.map(({ name }) => name)).not.toContain('cookie');
    expect([ingress.stored.size, ingress.emitted.length]).toEqual([0, 0]);
  },
);

test('bytes that are no UTF-8 are rejected, not replaced', async () => {
  const ingress = open();
  expect((await ingress.post('/rails/upstream/payouts', new Uint8Array([0x7b, 0xff, 0x7d]))).status).toBe(
    400,
  );
  expect(ingress.rejected).toHaveLength(1);
});

test('a body beyond 64 kB is answered 413 and not kept', async () => {
  const ingress = open();
  expect((await ingress.post('/rails/upstream/payouts', 'a'.repeat(65_537))).status).toBe(413);
  expect(ingress.rejected).toHaveLength(0);
});

test.each([
  '/rails/other/payouts',
  '/rails/upstream/refunds',
  '/rails/upstream/constructor',
  '/rails/upstream',
  '/',
])('%s is answered 404', async (path) => {
  const ingress = open();
  expect((await ingress.post(path, callbackBody)).status).toBe(404);
  expect(ingress.stored.size).toBe(0);
});

test.each([callbackBody, 'garbage'])('what cannot be stored is answered 503', async (body) => {
  const answer = await open({ store: new Error('no primary') }).post('/rails/upstream/payouts', body);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
});

test('storing that takes too long is answered 503', async () => {
  const callbacks: Callbacks = {
    isRail: () => true,
    receive: () => Promise.withResolvers<ReturnType<typeof refuse<CallbackRefusal>>>().promise,
  };
  const impatient: Clock = { ...clock, sleep: async () => undefined };
  const app = createApp({ callbacks, clock: impatient, logger, storeTimeoutMs: 1 });
  const answer = await app.request('/rails/upstream/payouts', { method: 'POST', body: callbackBody });
  expect(answer.status).toBe(503);
});

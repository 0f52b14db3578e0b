import { createHash } from 'node:crypto';
import { idOf } from '@pesewa/messaging';
import { describe, expect, test } from 'vitest';
import { openIngress, payoutBody, REFERENCE, START_MS, secretOf, signed } from './ingress.fixture.ts';

const path = '/rails/upstream/payouts';
const body = payoutBody();

test('a callback is stored with its evidence and published, then answered 200', async () => {
  const ingress = openIngress();
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const headers = {
    authorization: 'Bearer x',
    'user-agent': 'rail/1',
    'content-type': 'application/json',
    traceparent,
  };
  const answer = await ingress.post(path, body, headers, '::ffff:203.0.113.7');
  expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
  const digest = createHash('sha256').update(body).digest('hex');
  const [callback] = ingress.stored.values();
  expect(callback).toMatchObject({
    rail: 'upstream',
    kind: 'payout',
    digest,
    verdict: { address: 'any', signature: 'not_required', proven: false },
    peerAddress: '::ffff:203.0.113.7',
    clientAddress: '203.0.113.7',
    receivedAtMs: START_MS,
  });
  expect(Buffer.from(callback?.body ?? []).toString()).toBe(body);
  expect(callback?.headers.map(({ name }) => name).toSorted()).toEqual([
    'content-type',
    'traceparent',
    'user-agent',
  ]);
  expect(ingress.emitted).toEqual([
    {
      topic: 'railCallbacks',
      key: REFERENCE,
      version: 0n,
      causationId: null,
      traceparent,
      type: 'pesewa.rails.CallbackReceived',
      payload: {
        occurredAt: BigInt(START_MS),
        rail: 'upstream',
        reference: REFERENCE,
        kind: 'payout',
        digest,
        claimedStatus: 'COMPLETED',
        claimedAmount: '20.5',
        claimedCurrency: null,
        claimedFee: '0.1',
        claimedReason: 'Successful',
        proven: false,
      },
    },
  ]);
  expect(ingress.counted).toEqual([{ result: 'stored', reason: '' }]);
});

test('a first delivery is written without a look, a repeat with one', async () => {
  const ingress = openIngress();
  for (const amount of [1, 2, 3]) await ingress.post(path, payoutBody({ amount }));
  expect(ingress.loads).toEqual([]);
  await ingress.post(path, payoutBody({ amount: 1 }));
  expect(ingress.loads).toHaveLength(1);
});

describe('the same bytes again', () => {
  test('are answered 200 and published once while they are fresh', async () => {
    const ingress = openIngress();
    await ingress.post(path, body);
    ingress.clock.now += 59_999;
    expect((await ingress.post(path, body)).status).toBe(200);
    expect(ingress.emitted).toHaveLength(1);
    expect([...ingress.records.values()]).toMatchObject([{ deliveries: 2, timesPassedOn: 1 }]);
    expect(ingress.counted.at(-1)).toEqual({ result: 'repeated', reason: '' });
  });

  test('are published again after a quiet time, which starts anew', async () => {
    const ingress = openIngress();
    await ingress.post(path, body);
    ingress.clock.now += 60_000;
    await ingress.post(path, body);
    expect(ingress.counted.at(-1)).toEqual({ result: 'repassed', reason: '' });
    ingress.clock.now += 59_999;
    await ingress.post(path, body);
    expect(ingress.emitted).toHaveLength(2);
    expect(ingress.emitted[1]?.payload).toMatchObject({ reference: REFERENCE, claimedStatus: 'COMPLETED' });
    expect(new Set(ingress.emitted.map(idOf)).size).toBe(2);
    expect([...ingress.records.values()]).toMatchObject([{ deliveries: 3, timesPassedOn: 2 }]);
  });

  test('are another callback for the other kind', async () => {
    const ingress = openIngress();
    await ingress.post(path, body);
    expect((await ingress.post('/rails/upstream/collections', body)).status).toBe(400);
  });
});

test.each([
  ['cut off', '{"data":'],
  ['no callback', '{}'],
  ['empty', ''],
  ['no JSON', 'plain text'],
  ['too deep', `${'['.repeat(33)}${']'.repeat(33)}`],
  ['one key twice', body.replace('"amount":20.5', '"amount":20.5,"amount":205')],
  ['a status that is none', payoutBody({ transactionStatus: 'DONE' })],
  ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
])('a body that is %s is kept as rejected, answered 400 and not published', async (_, bytes) => {
  const ingress = openIngress();
  const answer = await ingress.post(path, bytes, { cookie: 'a=b' });
  expect(answer.status).toBe(400);
  expect(ingress.rejected).toMatchObject([{ reason: 'body.malformed' }]);
  expect(Buffer.from(ingress.rejected[0]?.body ?? [])).toEqual(Buffer.from(bytes));
  expect(ingress.rejected[0]?.headers.map(({ name }) => name)).not.toContain('cookie');
  expect([ingress.stored.size, ingress.emitted.length]).toEqual([0, 0]);
  expect(ingress.counted).toEqual([{ result: 'rejected', reason: 'body.malformed' }]);
});

test.each<[string, Record<string, string>, string]>([
  ['without a charset', {}, 'compte ***'],
  [
    'in the charset that it names',
    { 'content-type': 'application/json; charset="ISO-8859-1"' },
    'compte fermé',
  ],
])(
  'a callback in Latin-1 %s is taken: its status is exact, and its reason readable',
  async (_, headers, reason) => {
    const ingress = openIngress();
    const latin1 = Buffer.from(payoutBody({ statusReason: 'compte fermé' }), 'latin1');
    expect((await ingress.post(path, latin1, headers)).status).toBe(200);
    expect(ingress.emitted).toMatchObject([
      { payload: { claimedStatus: 'COMPLETED', claimedAmount: '20.5', claimedReason: reason } },
    ]);
    expect(Buffer.from([...ingress.stored.values()][0]?.body ?? [])).toEqual(latin1);
  },
);

test.each([
  '233240000000',
  'ama.mensah',
  'po-1',
  `PO-${'0'.repeat(32)}`,
  `co-${'0'.repeat(32)}`,
  `po-${'0'.repeat(33)}`,
])('%s is no reference of a payout of ours: it goes on no topic', async (merchantReference) => {
  const ingress = openIngress();
  expect((await ingress.post(path, payoutBody({ merchantReference }))).status).toBe(400);
  expect(ingress.rejected).toMatchObject([{ reason: 'reference.foreign' }]);
  expect(ingress.emitted).toEqual([]);
});

test('a reason travels as one bounded line without the names and numbers of people', async () => {
  const ingress = openIngress();
  const statusReason = `no wallet\u0000 for\n+254 712-345 678 of Ama Mensah, ama@example.com: ${'no '.repeat(400)}`;
  await ingress.post(path, payoutBody({ statusReason }));
  const [event] = ingress.emitted;
  const { claimedReason } = (event?.payload ?? {}) as { claimedReason?: string };
  expect(claimedReason).toMatch(/^no wallet {1,2}for \+\*\*\* of \*\*\*:? [no ]+$/);
  expect(claimedReason?.length).toBeLessThanOrEqual(140);
});

test('a body beyond 8 KiB is answered 413 and not kept', async () => {
  const ingress = openIngress();
  expect((await ingress.post(path, 'a'.repeat(8_193))).status).toBe(413);
  expect((await ingress.post(path, 'a'.repeat(8_192))).status).toBe(400);
  expect(ingress.rejected).toHaveLength(1);
  expect(ingress.counted[0]).toEqual({ result: 'rejected', reason: 'too_large' });
});

test('of an unauthenticated callback only the beginning is kept, and it is driven again by what it claimed', async () => {
  const ingress = openIngress();
  const text = payoutBody({ padding: 'x'.repeat(5_000) });
  expect((await ingress.post(path, text, { 'x-long': 'y'.repeat(1_000) })).status).toBe(200);
  const [kept] = [...ingress.stored.values()];
  expect(kept?.body).toEqual(new TextEncoder().encode(text.slice(0, 2_048)));
  expect(kept?.headers.find(({ name }) => name === 'x-long')?.value).toHaveLength(256);
  expect(await ingress.callbacks.redrive(kept?.id ?? '')).toEqual({ ok: true, value: 'passed_on' });
  const [first, second] = ingress.emitted;
  expect({ ...second?.payload, eventId: '', occurredAt: '' }).toEqual({
    ...first?.payload,
    eventId: '',
    occurredAt: '',
  });
});

test('what a signature proves, and what could not be read, is kept whole', async () => {
  const ingress = openIngress({ rail: { callbackSecrets: [secretOf(1)] } });
  const text = payoutBody({ padding: 'x'.repeat(5_000) });
  await ingress.post(path, text, signed(text));
  const unsigned = openIngress({ faults: { translation: new TypeError('a defect') } });
  await unsigned.post(path, text);
  for (const { stored } of [ingress, unsigned])
    expect([...stored.values()].map(({ body: kept }) => kept.byteLength)).toEqual([text.length]);
});

test('a rail without collections has no address for their callbacks', async () => {
  const ingress = openIngress({ faults: { takesNoCollections: true } });
  expect((await ingress.post('/rails/upstream/collections', body)).status).toBe(404);
  expect(ingress.counted).toEqual([{ rail: 'unknown', result: 'rejected', reason: 'not_found' }]);
  expect((await ingress.post(path, body)).status).toBe(200);
});

test('a compressed body is answered 415 and not read', async () => {
  const ingress = openIngress();
  const packed = await ingress.post(path, body, { 'content-encoding': 'gzip' });
  expect([packed.status, packed.headers.get('accept-encoding')]).toEqual([415, 'identity']);
  expect((await ingress.post(path, body, { 'content-encoding': 'identity' })).status).toBe(200);
  expect(ingress.rejected).toEqual([]);
});

test.each([
  '/rails/unknown/payouts',
  '/rails/upstream/refunds',
  '/rails/upstream/constructor',
  '/rails/constructor/payouts',
  '/rails/upstream',
  '/',
])('%s is answered 404', async (wrong) => {
  const ingress = openIngress();
  expect((await ingress.post(wrong, body)).status).toBe(404);
  expect([ingress.stored.size, ingress.rejected.length]).toEqual([0, 0]);
});

test.each([body, 'garbage'])('what cannot be stored is answered 503', async (bytes) => {
  const ingress = openIngress({ faults: { store: new Error('no primary') } });
  const answer = await ingress.post(path, bytes);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  expect(ingress.counted).toEqual([{ result: 'not_stored', reason: '' }]);
});

test('storing that takes too long is answered 503', async () => {
  const ingress = openIngress({ faults: { stall: new Promise(() => undefined) } });
  ingress.clock.sleep = async () => undefined;
  expect((await ingress.post(path, body)).status).toBe(503);
});

test.each([
  ['/rails/made-up-by-a-stranger/payouts', true],
  ['/rails/upstream/refunds', true],
  ['/else', false],
])('a post to %s is counted under no name of its own', async (wrong, isCounted) => {
  const ingress = openIngress();
  await ingress.post(wrong, body);
  expect(ingress.counted).toEqual(
    isCounted ? [{ rail: 'unknown', result: 'rejected', reason: 'not_found' }] : [],
  );
});

test('a collection’s callback is published with the currency that it names', async () => {
  const ingress = openIngress();
  const reference = REFERENCE.replace('po-', 'co-');
  const collection = {
    transaction_reference: 'R-1',
    transaction_status: 'Funds Received',
    transaction_fee: 0.1,
    amount_received: 20,
    initiated_date: '2026-01-02 00:00:00',
    current_status_date: '2026-01-02 00:00:00',
    received_from: {},
    merchant_reference: reference,
    status: 'COMPLETED',
    channel: 'MOBILE_MONEY',
    currency_code: 'XOF',
  };
  await ingress.post('/rails/upstream/collections', JSON.stringify(collection));
  expect(ingress.emitted).toMatchObject([
    { key: reference, payload: { claimedAmount: '20', claimedCurrency: 'XOF' } },
  ]);
});

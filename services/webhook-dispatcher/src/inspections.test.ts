import type { Merchant } from '@pesewa/directory';
import { createIds, systemRandom } from '@pesewa/kernel';
import { createWebhookSecret, verifyWebhook } from '@pesewa/signatures';
import { Webhook } from 'standardwebhooks';
import { expect, test, vi } from 'vitest';
import type { DeliveryDocument } from './documents.ts';
import { createInspections } from './inspections.ts';
import type { Dispatch, Observation } from './sender.ts';

const NOW_MS = 1_750_000_000_000;
const GRACE_MS = 86_400_000;
const secrets = [createWebhookSecret(systemRandom), createWebhookSecret(systemRandom)];
const delivery: DeliveryDocument = {
  _id: 'po-1-completed',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'M-1',
  kind: 'payout-completed',
  body: '{"data":{"amount":20.50}}',
  webhookUrl: null,
  bulkhead: 'demo payouts',
  causationId: 'ev-1',
  createdAt: new Date(0),
  state: 'delivered',
  attempts: 1,
  roundAttempts: 1,
  attemptLog: [{ at: new Date(5_000), status: 200, durationMs: 3 }],
};
const webhooks: Merchant['webhooks'] = {
  payoutsUrl: 'https://shop.example/payouts',
  collectionsUrl: null,
  secrets,
  previousUntil: new Date(NOW_MS + GRACE_MS),
};
const answered: Observation = {
  result: { kind: 'answered', status: 200, retryAfterMs: null },
  rule: null,
  resolved: ['93.184.216.34'],
  connection: { connectedTo: '93.184.216.34', tls: null, tlsProblem: null },
  isRedirect: false,
  isBodyCut: false,
};

function open(observation: Observation = answered) {
  const sent: Dispatch[] = [];
  const clock = { now: NOW_MS, nowMs: () => clock.now, sleep: () => Promise.resolve() };
  const merchant = { id: 'demo', webhooks, wallets: [{ currency: 'KES' }] } as unknown as Merchant;
  const inspections = createInspections({
    store: { find: async (id) => (id === delivery._id ? delivery : null) },
    directory: { find: async (id) => (id === 'demo' ? merchant : undefined) },
    sender: {
      observe: async (dispatch) => {
        sent.push(dispatch);
        return observation;
      },
    },
    deadlineMs: 10_000,
    clock,
    ids: createIds(clock, systemRandom),
  });
  return { ...inspections, sent, clock };
}

test('a shown webhook has no signature, and the time of its last attempt', async () => {
  const shown = await open().show(delivery._id);
  expect(shown).toMatchObject({ ok: true, value: { delivery, address: webhooks.payoutsUrl } });
  expect(shown.ok && shown.value.headers).toEqual({
    'content-type': 'application/json',
    'user-agent': 'Pesewa-Webhooks/1',
    'webhook-id': delivery._id,
    'webhook-timestamp': '5',
  });
  expect(await open().show('po-9')).toEqual({ ok: false, refusal: 'delivery.unknown' });
});

test('the reference library accepts both secrets in the grace time, and the new one alone after it', async () => {
  const inspections = open();
  const accepts = async (secret = '') => {
    vi.setSystemTime(inspections.clock.now);
    const signed = await inspections.sign(delivery._id);
    if (!signed.ok) throw new Error(signed.refusal);
    try {
      new Webhook(secret).verify(signed.value.body, signed.value.headers);
      return true;
    } catch {
      return false;
    }
  };
  const [newest, before] = secrets;
  try {
    expect([await accepts(newest), await accepts(before)]).toEqual([true, true]);
    inspections.clock.now += GRACE_MS - 1;
    expect([await accepts(newest), await accepts(before)]).toEqual([true, true]);
    inspections.clock.now += 1;
    expect([await accepts(newest), await accepts(before)]).toEqual([true, false]);
  } finally {
    vi.useRealTimers();
  }
  expect(inspections.sent).toEqual([]);
});

test('a sample goes to the own address, signed, and no payment has its reference', async () => {
  const inspections = open();
  const tested = await inspections.test('demo', 'payout');
  const [sent] = inspections.sent;
  expect(sent?.url).toBe(webhooks.payoutsUrl);
  expect(tested).toMatchObject({
    ok: true,
    value: {
      finding: 'delivered',
      status: 200,
      resolved: ['93.184.216.34'],
      connectedTo: '93.184.216.34',
      sentBody: sent?.body,
      signature: { header: 'webhook-signature', count: 2, verifies: true },
    },
  });
  const { data } = JSON.parse(sent?.body ?? '') as { data: Record<string, unknown> };
  expect(data).toMatchObject({
    transactionStatus: 'FAILED',
    statusReason: 'Test webhook: it belongs to no payment',
  });
  for (const reference of [data['transactionReference'], sent?.headers['webhook-id']])
    expect(reference).toMatch(/^test-dl-[0-9a-f]{32}$/);
  const { headers = {}, body = '' } = sent ?? {};
  const proof = verifyWebhook({ headers, body, secrets, nowMs: NOW_MS, toleranceSeconds: 0 });
  expect(proof).toMatchObject({ ok: true });
});

test('a merchant without an address for it is sent nothing, and gets a signed sample all the same', async () => {
  const inspections = open();
  const signed = await inspections.signTest('demo', 'collection');
  const { headers = {}, body = '' } = signed.ok ? signed.value : {};
  expect(verifyWebhook({ headers, body, secrets, nowMs: NOW_MS, toleranceSeconds: 0 }).ok).toBe(true);
  expect(await inspections.test('demo', 'collection')).toMatchObject({ value: { finding: 'no_address' } });
  expect(await inspections.test('nobody', 'payout')).toEqual({ ok: false, refusal: 'merchant.unknown' });
  expect(inspections.sent).toEqual([]);
});

test.each<[string, Partial<Observation>]>([
  ['redirected', { result: { kind: 'answered', status: 302, retryAfterMs: null }, isRedirect: true }],
  ['answered', { result: { kind: 'answered', status: 302, retryAfterMs: null } }],
  ['answered', { result: { kind: 'answered', status: 500, retryAfterMs: null } }],
  ['address_refused', { result: { kind: 'failed', error: 'refused' }, rule: 'address.port' }],
  ['name_not_public', { result: { kind: 'failed', error: 'not_public' } }],
  ['name_unresolved', { result: { kind: 'failed', error: 'dns' }, resolved: [] }],
  ['no_answer', { result: { kind: 'failed', error: 'tls' } }],
])('%s is what a sample met', async (finding, changes) => {
  const tested = await open({ ...answered, ...changes }).test('demo', 'payout');
  expect(tested).toMatchObject({ ok: true, value: { finding } });
});

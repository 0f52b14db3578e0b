import { bulkPayoutRequest, parseJson, singlePayoutRequest } from '@pesewa/contracts';
import type { Merchant, MerchantLimits } from '@pesewa/directory';
import { openUsageStore } from '@pesewa/merchant-api';
import { openMessaging } from '@pesewa/messaging';
import { createBatches } from './batches.ts';
import { payoutDatabaseSchema } from './database-schema.ts';
import { type BatchRequest, readBatch } from './domain/batch.ts';
import { createPayouts, type RequestDeps } from './payouts.ts';
import { openPayoutStore } from './store.ts';

/** A merchant with a wallet in GHS and a fee of one percent. */
export function merchantWith(id: string, limits: Partial<MerchantLimits> = {}): Merchant {
  const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 1n };
  return {
    id,
    name: id,
    status: 'active',
    keys: [],
    allowedAddresses: [],
    signing: { isRequired: false, secrets: [] },
    wallets: [{ currency: 'GHS', country: 'GHA', payoutFee: fee, collectionFee: fee }],
    webhooks: { payoutsUrl: null, collectionsUrl: null, secrets: [] },
    limits: { requestsPerSecond: 100, ...limits },
    createdAt: new Date(0),
  };
}

/** Opens one replica's acceptance over real daemons; the test sets the answers of routing and funds. */
export async function openReplica(
  scope: Parameters<typeof openMessaging>[0],
  overrides: Partial<RequestDeps> = {},
) {
  const { clock, ids } = scope;
  const messaging = await openMessaging(scope, {
    service: 'payout-gateway',
    databaseSchema: payoutDatabaseSchema,
  });
  const { db } = messaging;
  const deps: RequestDeps = {
    store: openPayoutStore(db),
    usage: openUsageStore(db),
    messaging,
    clock,
    ids,
    routePayout: async () => ({ kind: 'routed', rail: 'upstream' }),
    canSpend: async () => true,
    isPaused: () => false,
    ...overrides,
  };
  const payouts = createPayouts({ ...deps, nothingToDo: () => undefined });
  return { db, payouts, messaging, store: deps.store, batches: createBatches(deps) };
}

const sender = { name: 'Kofi Shop', phoneNumber: '', email: 'kofi@shop.example' };
const shared = { country: 'Ghana', currency: 'GHS', channel: 'Mobile Money', sender };
const account = { accountName: 'Ama Mensah', accountNumber: '0240000000', bankCode: 'GHMTN' };

/** A single payout as it is read from a request body. */
export function single(transactionReference: string, amount = 10) {
  const body = { ...shared, transactionReference, beneficiary: { ...account, amount } };
  return singlePayoutRequest.parse(parseJson(JSON.stringify(body)));
}

/** The text of a batch: its reference, and its items' references with their amounts. */
export function batchText(
  transactionReference: string,
  items: readonly (readonly [string, number])[],
): string {
  const beneficiaries = items.map(([reference, amount]) => ({
    ...account,
    transactionReference: reference,
    amount,
    narration: 'salary',
    saveBeneficiary: false,
  }));
  // Added up in hundredths, because a sum of fractions would be inexact.
  const totalAmount = items.reduce((sum, [, amount]) => sum + Math.round(amount * 100), 0) / 100;
  return JSON.stringify({ ...shared, transactionReference, totalAmount, beneficiaries });
}

/** A batch as it is read from a request body; runs all steps of the reader at once. */
export function batch(
  transactionReference: string,
  items: readonly (readonly [string, number])[],
): BatchRequest {
  const text = batchText(transactionReference, items);
  bulkPayoutRequest.parse(parseJson(text));
  const read = drive(readBatch(text));
  if (!read.ok) throw new Error(read.refusal.message);
  return read.value;
}

/** Runs a stepwise computation to its end. */
export function drive<Value>(work: Generator<void, Value>): Value {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

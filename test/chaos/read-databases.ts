import { parseAmount } from '@pesewa/kernel';
import { type Collection, type Document, MongoClient } from 'mongodb';
import { z } from 'zod';
import type { Batch, Break, Callback, Delivery, Entry, Payment } from './checker/world.ts';

/** The part of a run that is in the databases. */
export interface Stored {
  readonly payments: readonly Payment[];
  readonly batches: readonly Batch[];
  readonly entries: readonly Entry[];
  readonly refusals: readonly string[];
  readonly callbacks: readonly Callback[];
  readonly breaks: readonly Break[];
  readonly deliveries: readonly Delivery[];
  /** The balance of each shared account, debits less credits, in minor units. */
  readonly accounts: ReadonlyMap<string, bigint>;
}

/** The databases of one run. */
export interface Databases extends AsyncDisposable {
  readonly read: () => Promise<Stored>;
  /** How much is still in progress: unsent outbox records, and webhooks that are due. */
  readonly underWay: () => Promise<{ readonly outboxes: number; readonly deliveries: number }>;
  /** How far everything has come; unchanged if nothing has moved meanwhile. */
  readonly progress: () => Promise<readonly number[]>;
  /** The server's clock, by which leases run out. */
  readonly nowMs: () => Promise<number>;
}

const names = ['payouts', 'collections', 'ingress', 'reconciler', 'ledger', 'webhooks'] as const;

/** Connects to the databases of a run; whole numbers of 64 bits come as bigint. */
export async function openDatabases(mongodbUrl: string, prefix: string): Promise<Databases> {
  const client = await MongoClient.connect(mongodbUrl, { useBigInt64: true, readConcernLevel: 'majority' });
  const collection = (database: (typeof names)[number], name: string) =>
    client.db(`${prefix}_${database}`).collection(name);
  const all = <Schema extends z.ZodType>(
    schema: Schema,
    database: (typeof names)[number],
    name: string,
    filter: Document = {},
  ) =>
    collection(database, name)
      .find(filter)
      .map((document) => schema.parse(document))
      .toArray();
  return {
    read: async () => {
      const [payouts, collections, callbacks, accounts, ...rest] = await Promise.all([
        // The references of batches and of refused requests (ADR 87) are stored among the payments, without a status.
        all(storedPayment, 'payouts', 'payouts', { status: { $exists: true } }),
        all(storedPayment, 'collections', 'collections', { status: { $exists: true } }),
        all(storedCallback, 'ingress', 'callbacks'),
        all(storedAccount, 'ledger', 'accounts'),
        all(storedBatch, 'payouts', 'payouts', { kind: 'batch' }),
        all(storedPosting, 'ledger', 'postings'),
        all(storedRefusal, 'ledger', 'refusals'),
        all(storedBreak, 'reconciler', 'breaks'),
        all(storedDelivery, 'webhooks', 'deliveries'),
      ]);
      const [batches, postings, refusals, breaks, deliveries] = rest;
      const payments = [
        ...payouts.map((one) => toPayment('payout', one)),
        ...collections.map((one) => toPayment('collection', one)),
      ];
      const buckets = Map.groupBy(accounts, ({ account }) => account);
      return {
        payments,
        batches,
        entries: postings.flat(),
        refusals,
        callbacks: callbacks.flatMap((one) => toCallback(one, payments)),
        // A break is of a field: one here for each discrepancy in it.
        breaks: breaks.flat(),
        deliveries,
        accounts: new Map([...buckets].map(([account, own]) => [account, balanceOf(own)])),
      };
    },
    underWay: async () => {
      const outboxes = await Promise.all(names.map((name) => collection(name, 'outbox').countDocuments()));
      const deliveries = await collection('webhooks', 'deliveries').countDocuments({ state: 'pending' });
      return { outboxes: outboxes.reduce((sum, count) => sum + count, 0), deliveries };
    },
    progress: () =>
      Promise.all([
        sumOf(collection('payouts', 'payouts'), '$version'),
        sumOf(collection('collections', 'collections'), '$version'),
        collection('ledger', 'postings').countDocuments(),
        collection('reconciler', 'breaks').countDocuments(),
        collection('reconciler', 'breaks').countDocuments({ status: 'resolved' }),
        collection('webhooks', 'deliveries').countDocuments(),
        collection('webhooks', 'deliveries').countDocuments({ state: 'pending' }),
        ...names.map((name) => collection(name, 'outbox').countDocuments()),
      ]),
    nowMs: async () => {
      const { localTime } = hello.parse(await client.db('admin').command({ hello: 1 }));
      return localTime.getTime();
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function sumOf(documents: Collection, field: string): Promise<number> {
  const [sum] = await documents.aggregate([{ $group: { _id: null, of: { $sum: field } } }]).toArray();
  return Number(sum?.['of'] ?? 0);
}

const hello = z.object({ localTime: z.date() });

const minor = z.bigint();
const whole = z.union([z.number(), z.bigint()]).transform(Number);
const time = z.date().transform((date) => date.getTime());

const storedPayment = z.object({
  merchantId: z.string(),
  reference: z.string(),
  order: z.object({
    merchantReference: z.string(),
    customerNumber: z.string().optional(),
    beneficiary: z.object({ accountNumber: z.string() }).optional(),
  }),
  flow: z.object({ kind: z.enum(['link', 'stk', 'stkThenComplete', 'otp']) }).optional(),
  amount: minor,
  amountReceived: minor.default(() => 0n),
  currency: z.string(),
  fee: minor,
  status: z.string(),
  version: minor,
  attempts: whole,
  completionAttempts: whole.default(0),
  acceptedAt: time,
  attemptedAt: time.optional(),
  batchReference: z.string().nullish(),
});

function toPayment(api: Payment['api'], stored: z.output<typeof storedPayment>): Payment {
  const { order, flow, acceptedAt, attemptedAt, batchReference, ...rest } = stored;
  const number = order.beneficiary?.accountNumber ?? order.customerNumber ?? '';
  return {
    ...rest,
    api,
    merchantReference: order.merchantReference,
    content: `${stored.amount} ${stored.currency} ${number}`,
    flow: flow?.kind ?? 'payout',
    acceptedAtMs: acceptedAt,
    attemptedAtMs: attemptedAt ?? null,
    batchReference: batchReference ?? null,
  };
}

/** A reservation; its `_id` is the merchant and the merchant's reference. */
const storedBatch = z
  .object({ _id: z.string(), merchantId: z.string(), reference: z.string() })
  .transform(({ _id, ...batch }) => ({
    ...batch,
    merchantReference: _id.slice(batch.merchantId.length + 1),
  }));

const storedPosting = z
  .object({ reference: z.string(), entries: z.array(z.object({ kind: z.string() })) })
  .transform(({ reference, entries }) => entries.map(({ kind }) => ({ reference, kind })));

const storedRefusal = z
  .object({ _id: z.string() })
  .transform(({ _id }) => _id.slice(0, _id.lastIndexOf('/')));

const storedCallback = z.object({
  reference: z.string().nullable(),
  claimedStatus: z.string().nullable(),
  claimedAmount: z.string().nullable(),
});

/** A callback as far as it could be read; its amount in minor units of its payment's currency. */
function toCallback(
  { reference, claimedStatus, claimedAmount }: z.output<typeof storedCallback>,
  payments: readonly Payment[],
): readonly Callback[] {
  const payment = payments.find((one) => one.reference === reference);
  if (reference === null || claimedStatus === null) return [];
  const amount = payment && parseAmount(claimedAmount ?? '', payment.currency);
  return [{ reference, status: claimedStatus, amount: amount?.ok === true ? amount.value.minor : null }];
}

const storedBreak = z
  .object({
    _id: z.string(),
    reference: z.string(),
    status: z.string(),
    observations: z.array(z.object({ kind: z.string() })),
  })
  .transform(({ _id: id, status, reference, observations }) =>
    observations.map(({ kind }) => ({ id, kind, reference, isOpen: status !== 'resolved' })),
  );

const storedDelivery = z
  .object({
    _id: z.string(),
    merchantId: z.string(),
    reference: z.string(),
    kind: z.string(),
    body: z.string(),
    state: z.string(),
  })
  .transform(({ _id: id, ...delivery }) => ({ id, ...delivery }));

const storedAccount = z.object({ account: z.string(), debits: minor, credits: minor });

function balanceOf(buckets: readonly z.output<typeof storedAccount>[]): bigint {
  return buckets.reduce((sum, { debits, credits }) => sum + debits - credits, 0n);
}

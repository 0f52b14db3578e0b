import { randomBytes } from 'node:crypto';
import { samplePayout, webhookIdOf } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import { systemClock } from '@pesewa/kernel';
import { createMerchantClient, type MerchantClient, type Stack } from '@pesewa/stack';
import { type Collection, MongoClient } from 'mongodb';
import type { Bench } from './bench.ts';
import { ENDPOINTS, openNameServer, setMerchants, type Trouble, troublesOf } from './edge-troubles.ts';
import { against, quantile, type Row } from './rows.ts';
import { openSharedStack } from './shared-stack.ts';
import type { DeliveryRecord } from './webhook-drain.ts';
import { openReceivers, type Receivers } from './webhook-receivers.ts';

/** How long each round lasts. */
const SECONDS = Number(process.env['EDGES_SECONDS'] ?? 120);
/** The only trouble to measure, by its name; all of them if absent. */
const ONLY = process.env['EDGES_TROUBLE'];
const WARM_UP_SECONDS = 20;
const PER_SECOND = 20;
/** By then the last attempts and calls of a round are over. */
const SETTLE_MS = 12_000;
const DEADLINE_MS = 120_000;
const MS_PER_SECOND = 1_000;
const RATIO_MAX = 1.5;

const callbackSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** What the rounds share. */
interface Parts {
  readonly stack: Stack;
  readonly payouts: Collection<PayoutRecord>;
  /** The endpoint of the merchant whose payouts are measured. */
  readonly living: Receivers;
}

interface PayoutRecord {
  readonly reference: string;
  readonly status: string;
  readonly timeline: readonly { readonly at: Date }[];
}

const steps = ['answer', 'completed', 'webhook'] as const;

/** The times from the requests of payouts to these steps, in milliseconds. */
type Times = Readonly<Record<(typeof steps)[number], readonly number[]>>;

/**
 * How long the payouts of a merchant take, 20 a second, while others make trouble, against a round right before in which
 * nobody does.
 *
 * All services run with their settings of production where these bear on it. The rail signs its callbacks, as production
 * requires, and its simulator calls back after 50 ms, so that little is measured but our own steps.
 */
export const benchEdges: Bench = async (options) => {
  await using living = await openReceivers({ kind: 'living', count: 1 });
  await using silent = await openReceivers({ kind: 'silent', count: ENDPOINTS });
  await using bare = await openReceivers({ kind: 'living', count: 1 });
  using nameServer = await openNameServer();
  // By a name that the system resolves: a lookup that held up all of the process's threads would be seen.
  const endpoint = (living.origins[0] ?? '').replace('127.0.0.1', 'localhost');
  await using stack = await openSharedStack(options, {
    rail: { callbackSecrets: [callbackSecret], timeoutMs: 10_000, requestsPerSecondMax: 500 },
    environment: {
      'payout-gateway': { RESUBMIT_GRACE_MS: '30000' },
      'collection-gateway': { RESUBMIT_GRACE_MS: '30000' },
      'provider-simulator': { CALLBACK_SIGNING_SECRET: callbackSecret, CALLBACK_DELAY_MS: '50' },
      'webhook-ingress': { UNVERIFIED_CALLBACKS_PER_SECOND_MAX: '50' },
      'webhook-dispatcher': {
        WEBHOOK_ALLOWED_ORIGINS: [endpoint, ...silent.origins].join(','),
        NODE_OPTIONS: nameServer.nodeOptions,
      },
      reconciler: { FIRST_POLL_AFTER_MS: '30000', NOT_FOUND_GRACE_MS: '30000' },
    },
  });
  await using client = await new MongoClient(options.infrastructure.env.MONGODB_URL, {
    useBigInt64: true,
  }).connect();
  await setMerchants(client, `${endpoint}/`);
  const parts = { stack, living, payouts: client.db('payouts').collection<PayoutRecord>('payouts') };
  const deliveries = client.db('webhooks').collection<DeliveryRecord>('deliveries');
  const troubles = troublesOf({ stack, deliveries, silent, nameServer, bare });
  const wanted = troubles.filter(({ name }) => ONLY === undefined || name === ONLY);
  if (wanted.length === 0)
    throw new Error(`EDGES_TROUBLE is one of ${troubles.map(({ name }) => name).join(', ')}`);
  await measureRound(parts, WARM_UP_SECONDS);
  const rows: Row[] = [];
  for (const trouble of wanted) {
    options.log(`edges: nothing is wrong, and then ${trouble.about}`);
    rows.push(...(await measureTrouble(parts, trouble)));
    await systemClock.sleep(SETTLE_MS);
  }
  return rows;
};

/** Measures a round without the trouble, one with its load on the machine alone if it has one, and one with it. */
async function measureTrouble(
  parts: Parts,
  { name, about, begin, beginBare, webhookRatioMax = RATIO_MAX }: Trouble,
): Promise<readonly Row[]> {
  const beside = async (beginning: Trouble['begin']) => {
    const end = await beginning();
    const times = await measureRound(parts, SECONDS);
    return { times, met: await end() };
  };
  const quiet = await measureRound(parts, SECONDS);
  const loaded = beginBare && (await beside(beginBare));
  const during = await beside(begin);
  const floor = loaded?.times ?? quiet;
  return steps.map((step) => {
    const p95 = (times: Times) => quantile(times[step], 0.95);
    const floorDetail = loaded
      ? `floor: while the same load goes to a bare server (${loaded.met}); ${Math.round(p95(quiet))} ms without any`
      : 'floor: without';
    return against({
      name: `edges.${name}.${step}.p95`,
      value: p95(during.times),
      unit: 'ms',
      floor: p95(floor),
      ratioMax: step === 'webhook' ? webhookRatioMax : RATIO_MAX,
      detail: `from request to ${step} of ${during.times.answer.length} payouts while ${about} (${during.met}); ${floorDetail}; lower is better`,
    });
  });
}

/** Requests payouts at a constant rate, and waits for their webhooks. */
async function measureRound({ stack, payouts, living }: Parts, seconds: number): Promise<Times> {
  const { transferUrl, collectionsUrl, merchants } = stack.runFile();
  const publicKey = merchants[0]?.publicKey ?? '';
  const merchant = createMerchantClient({ transferUrl, collectionsUrl, publicKey });
  const run = randomBytes(3).toString('hex');
  const startMs = Date.now();
  const requested: Promise<Requested | Error>[] = [];
  for (let index = 0; index < seconds * PER_SECOND; index += 1) {
    await systemClock.sleep(Math.max(0, startMs + (index * MS_PER_SECOND) / PER_SECOND - Date.now()));
    requested.push(request(merchant, `edge-${run}-${index}`).catch((error: Error) => error));
  }
  const answered = (await Promise.all(requested)).map((one) => {
    if (one instanceof Error) throw one;
    return one;
  });
  const receivedMs = new Map<string, number>();
  await waitUntil('the webhooks', DEADLINE_MS, async () => {
    for (const { id, atMs } of await living.take()) receivedMs.set(id, receivedMs.get(id) ?? atMs);
    const missing = answered.filter(({ webhookId }) => !receivedMs.has(webhookId)).length;
    if (missing > 0) throw new Error(`${missing} of ${answered.length} not received`);
  });
  const ended = await payouts
    .find({ reference: { $in: answered.map(({ reference }) => reference) }, status: 'COMPLETED' })
    .project<PayoutRecord>({ reference: 1, timeline: 1 })
    .toArray();
  const endedMs = new Map(ended.map(({ reference, timeline }) => [reference, timeline.at(-1)?.at.getTime()]));
  const since = (of: (one: Requested) => number | undefined) =>
    answered.map((one) => (of(one) ?? Number.NaN) - one.sentMs);
  return {
    answer: since(({ answeredMs }) => answeredMs),
    completed: since(({ reference }) => endedMs.get(reference)),
    webhook: since(({ webhookId }) => receivedMs.get(webhookId)),
  };
}

/** A payout by our reference, and when it was asked for and accepted. */
interface Requested {
  readonly reference: string;
  readonly webhookId: string;
  readonly sentMs: number;
  readonly answeredMs: number;
}

async function request(merchant: MerchantClient, own: string): Promise<Requested> {
  const sentMs = Date.now();
  const answer = await merchant.requestPayout(
    samplePayout('NG', { reference: own, amount: '1.50', digits: '9999' }),
  );
  const reference = answer.responseData?.transactionReference;
  if (reference === undefined) throw new Error(`a payout was answered ${answer.responseCode ?? 'nothing'}`);
  return { reference, webhookId: webhookIdOf(reference, 'completed'), sentMs, answeredMs: Date.now() };
}

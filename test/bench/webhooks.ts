import { topics, walletKeyOf, webhookIdOf } from '@pesewa/contracts';
import { createDirectoryAdmin } from '@pesewa/directory';
import { waitUntil } from '@pesewa/infrastructure';
import { DAY_MS, systemClock } from '@pesewa/kernel';
import { type Collection, MongoClient } from 'mongodb';
import type { Bench, BenchOptions } from './bench.ts';
import { type Feed, type Message, openFeed } from './feed.ts';
import { completion } from './open-records.ts';
import { against, quantile, type Row } from './rows.ts';
import { openService } from './single.ts';
import { BACKLOG, writeBacklog } from './webhook-backlog.ts';
import { type DeliveryRecord, measureDrain } from './webhook-drain.ts';
import { openReceivers, type Receivers } from './webhook-receivers.ts';

const MERCHANTS = 20;
const TICK_MS = 50;
const PER_TICK = 5;
const ROUND_MS = 30_000;
const WARM_UP_MS = ROUND_MS;
const OWED = 1_000;
/** How many origins of one merchant are owed these; more than there are merchants. */
const OWED_ORIGINS = 40;
const LARGE = 'merchant-of-many-origins';
const DEADLINE_MS = 120_000;
/** How much longer webhooks of living endpoints may take while others are dead. */
const RATIO_MAX = 1.2;
const CURRENCY = 'KES';

/** What is wrong in a round. */
interface Trouble {
  readonly name: string;
  readonly about: string;
  readonly kind: 'silent' | 'dripping';
  /** How many endpoints have it: of the merchants' own, or all of a further merchant. */
  readonly endpoints: number;
  /**
   * What a further merchant is owed: many webhooks at once, in the round before as well; or more that were due before, while
   * in the round before as many are written that are due later.
   */
  readonly furtherMerchant?: 'at-once' | 'backlog';
}

const troubles: readonly Trouble[] = [
  { name: 'dead-tenth', about: '1 endpoint in 10 never answers', kind: 'silent', endpoints: 2 },
  { name: 'dead-half', about: '1 endpoint in 2 never answers', kind: 'silent', endpoints: 10 },
  {
    name: 'dead-origins',
    about: `${OWED_ORIGINS} origins of one merchant, owed ${OWED.toLocaleString('en')} webhooks at once, never answer`,
    kind: 'silent',
    endpoints: OWED_ORIGINS,
    furtherMerchant: 'at-once',
  },
  {
    name: 'dead-backlog',
    about: `one endpoint, owed ${BACKLOG.toLocaleString('en')} webhooks that were due before, never answers`,
    kind: 'silent',
    endpoints: 1,
    furtherMerchant: 'backlog',
  },
  { name: 'drip', about: 'one endpoint answers a byte a second', kind: 'dripping', endpoints: 1 },
];

/** What the rounds share. */
interface Parts {
  readonly feed: Feed;
  readonly living: Receivers;
  readonly deliveries: Collection<DeliveryRecord>;
}

/** How long webhooks of living endpoints took until they were received, in milliseconds. */
interface Times {
  /** From due, which is when the dispatcher wrote them. */
  readonly sinceDue: readonly number[];
  /** From when their events were to be published. */
  readonly sinceEvent: readonly number[];
}

/**
 * How long webhooks to living endpoints take while others are dead, against a round right before in which all live; and
 * how fast 10,000 due ones are sent.
 *
 * The dispatcher runs alone with its settings of production. Events come through Kafka, 100 a second in every round, for
 * 20 merchants in turn. An endpoint is new to the dispatcher in the round in which it is dead, so that each round has
 * the time before it is known to fail and that after.
 */
export const benchWebhooks: Bench = async (options) => {
  await using client = await new MongoClient(options.infrastructure.env.MONGODB_URL, {
    useBigInt64: true,
  }).connect();
  await using living = await openReceivers({ kind: 'living', count: OWED_ORIGINS });
  await using opened = new AsyncDisposableStack();
  const troubled: { readonly trouble: Trouble; readonly receivers: Receivers }[] = [];
  for (const trouble of troubles) {
    const { kind, endpoints: count } = trouble;
    troubled.push({ trouble, receivers: opened.use(await openReceivers({ kind, count })) });
  }
  const origins = [living, ...troubled.map(({ receivers }) => receivers)].flatMap((one) => one.origins);
  await using _dispatcher = await openService({
    ...options,
    name: 'webhook-dispatcher',
    environment: { WEBHOOK_ALLOWED_ORIGINS: origins.join(',') },
  });
  await addMerchants(client);
  await using feed = await openFeed(options.infrastructure, [topics.collections]);
  const deliveries = client.db('webhooks').collection<DeliveryRecord>('deliveries');
  const parts = { feed, living, deliveries };
  const merchantAddresses = living.origins.slice(0, MERCHANTS).map((origin) => `${origin}/`);
  await measureRound(parts, { name: 'warm-up', lastsMs: WARM_UP_MS, addressOf: addressesAt(living.origins) });
  const rows: Row[] = [];
  for (const { trouble, receivers } of troubled)
    rows.push(...(await measureTrouble(options, parts, trouble, receivers)));
  options.log('webhooks: 10,000 due at once');
  return [...rows, ...(await measureDrain(deliveries, living, merchantAddresses))];
};

/** Measures a round without the trouble, and one with it. */
async function measureTrouble(
  { log }: BenchOptions,
  parts: Parts,
  trouble: Trouble,
  troubled: Receivers,
): Promise<readonly Row[]> {
  const { name, about, furtherMerchant } = trouble;
  const { origins } = parts.living;
  const lastsMs = ROUND_MS;
  log(`webhooks: all endpoints live, and then ${about}`);
  const backlog = async (round: string, dueMs: number) => {
    const owed = { name: round, merchantId: LARGE, origins: troubled.origins, count: BACKLOG, dueMs };
    if (furtherMerchant === 'backlog') await writeBacklog(parts.deliveries, owed);
  };
  if (furtherMerchant === 'at-once') await owe(parts.feed, { name: `${name}-0`, origins });
  await backlog(`${name}-0`, Date.now() + DAY_MS);
  const before = await measureRound(parts, { name: `${name}-0`, lastsMs, addressOf: addressesAt(origins) });
  if (furtherMerchant === 'at-once') await owe(parts.feed, { name: `${name}-1`, origins: troubled.origins });
  await backlog(`${name}-1`, Date.now() - DAY_MS);
  const addressOf = addressesAt(
    furtherMerchant ? origins : [...troubled.origins, ...origins.slice(trouble.endpoints)],
  );
  const during = await measureRound(parts, { name: `${name}-1`, lastsMs, addressOf });
  await troubled[Symbol.asyncDispose]();
  await forgetOwed(parts.deliveries);
  return rowsOf({ name, about }, { before, during });
}

function rowsOf(
  { name, about }: Pick<Trouble, 'name' | 'about'>,
  { before, during }: { readonly before: Times; readonly during: Times },
): readonly Row[] {
  const row = (suffix: string, from: string, of: (times: Times) => number) =>
    against({
      name: `webhooks.${name}.${suffix}`,
      value: of(during),
      unit: 'ms',
      floor: of(before),
      ratioMax: RATIO_MAX,
      detail: `${from} to received, of ${during.sinceDue.length.toLocaleString('en')} for living endpoints while ${about}; floor: all live; lower is better`,
    });
  return [
    row('p50', 'from due', ({ sinceDue }) => quantile(sinceDue, 0.5)),
    row('p99', 'from due', ({ sinceDue }) => quantile(sinceDue, 0.99)),
    row('event.p99', "from the payment's event", ({ sinceEvent }) => quantile(sinceEvent, 0.99)),
  ];
}

const merchantOf = (index: number) => `shop-${String(index).padStart(2, '0')}`;

async function addMerchants(client: MongoClient): Promise<void> {
  const admin = createDirectoryAdmin(client.db('directory'));
  const ids = [...Array.from({ length: MERCHANTS }, (_, index) => merchantOf(index)), LARGE];
  for (const id of ids) {
    const created = await admin.createMerchant({
      id,
      name: id,
      wallets: [],
      limits: { requestsPerSecond: 1_000 },
    });
    if (!created.ok) throw new Error(`cannot create ${id}: ${created.refusal.message}`);
  }
}

/** The address of each merchant's webhooks. */
function addressesAt(origins: readonly string[]): (merchant: number) => string {
  return (merchant) => `${origins[merchant]}/`;
}

/** The event of a collection whose merchant is owed a webhook at this address. */
function eventOf(reference: string, merchantId: string, webhookUrl: string): Message {
  const event = completion(reference, Date.now());
  const payload = { ...event.payload, merchantId, currency: CURRENCY, webhookUrl };
  return { ...event, key: walletKeyOf(merchantId, CURRENCY), payload };
}

/** Publishes events at a constant rate, and waits for the webhooks of living endpoints. */
async function measureRound(
  { feed, living, deliveries }: Parts,
  round: {
    readonly name: string;
    readonly lastsMs: number;
    readonly addressOf: (merchant: number) => string;
  },
): Promise<Times> {
  const eventMs = new Map<string, number>();
  const startMs = Date.now();
  for (let tick = 0; tick * TICK_MS < round.lastsMs; tick += 1) {
    const atMs = startMs + tick * TICK_MS;
    await systemClock.sleep(Math.max(0, atMs - Date.now()));
    const events = Array.from({ length: PER_TICK }, (_, place) => {
      const index = tick * PER_TICK + place;
      const merchant = index % MERCHANTS;
      const reference = `co-${round.name}-${String(index).padStart(6, '0')}`;
      const address = round.addressOf(merchant);
      if (living.origins.some((origin) => address === `${origin}/`))
        eventMs.set(webhookIdOf(reference, 'completed'), atMs);
      return eventOf(reference, merchantOf(merchant), address);
    });
    await feed.send('collections', events);
  }
  const receivedMs = new Map<string, number>();
  await waitUntil('the webhooks of living endpoints', DEADLINE_MS, async () => {
    for (const { id, atMs } of await living.take()) receivedMs.set(id, receivedMs.get(id) ?? atMs);
    const missing = [...eventMs.keys()].filter((id) => !receivedMs.has(id)).length;
    if (missing > 0) throw new Error(`${missing} of ${eventMs.size} not received`);
  });
  const received = (id: string) => receivedMs.get(id) ?? Number.NaN;
  const written = await deliveries
    .find({ _id: { $in: [...eventMs.keys()] } })
    .project<Pick<DeliveryRecord, '_id' | 'createdAt'>>({ createdAt: 1 })
    .toArray();
  return {
    sinceDue: written.map(({ _id, createdAt }) => received(_id) - createdAt.getTime()),
    sinceEvent: [...eventMs].map(([id, atMs]) => received(id) - atMs),
  };
}

/** Publishes at once the events of a merchant whose every webhook goes to one of these origins. */
async function owe(
  feed: Feed,
  { name, origins }: { readonly name: string; readonly origins: readonly string[] },
): Promise<void> {
  const events = Array.from({ length: OWED }, (_, index) =>
    eventOf(
      `co-owed-${name}-${String(index).padStart(6, '0')}`,
      LARGE,
      `${origins[index % origins.length]}/`,
    ),
  );
  await feed.send('collections', events);
}

/** Removes what the closed endpoints are owed, so that the next round begins as the first did. */
async function forgetOwed(deliveries: Collection<DeliveryRecord>): Promise<void> {
  await waitUntil('the end of what dead endpoints are owed', DEADLINE_MS, async () => {
    const inHand = await deliveries.countDocuments({ state: 'pending', claim: { $exists: true } });
    if (inHand > 0) throw new Error(`${inHand} in hand`);
    // Again until none is left: one that is claimed meanwhile moves in the index that is gone through.
    await deliveries.deleteMany({ state: 'pending' });
    const left = await deliveries.countDocuments({ state: 'pending' });
    if (left > 0) throw new Error(`${left} left`);
  });
}

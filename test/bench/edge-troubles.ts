import { createSocket } from 'node:dgram';
import { createDirectoryAdmin } from '@pesewa/directory';
import { postJson, type Stack } from '@pesewa/stack';
import type { Collection, MongoClient } from 'mongodb';
import { type Flood, openFlood } from './flood.ts';
import { cpuBetween, cpuSeconds, type Pids } from './processes.ts';
import { writeBacklog } from './webhook-backlog.ts';
import type { DeliveryRecord } from './webhook-drain.ts';
import type { Receivers } from './webhook-receivers.ts';

/** Ends a trouble, and says what it met. */
type End = () => Promise<string>;

/** What others do while payouts are measured. */
export interface Trouble {
  readonly name: string;
  readonly about: string;
  readonly begin: () => Promise<End>;
  /** The same load on this machine in which the services have no part, where the load itself takes much of it. */
  readonly beginBare?: () => Promise<End>;
  /** How much longer webhooks may take, where less was promised than of the other times. */
  readonly webhookRatioMax?: number;
}

/** The endpoints of the merchant that is owed webhooks. */
export const ENDPOINTS = 40;
const OWED = 1_000;
const ENQUIRIES_PER_SECOND = 20;
const CALLBACKS_PER_SECOND = 2_000;
const MS_PER_SECOND = 1_000;
/** The simulator never answers a name enquiry for it. */
const HANGING_ACCOUNT = '0123450007';
const TROUBLEMAKER = 'rival';

const counted = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count.toLocaleString('en')} × ${what}`)
    .join(', ');

/** Sets the address of the merchant whose payouts are measured, and lets the other one ask for names as it likes. */
export async function setMerchants(client: MongoClient, payoutsUrl: string): Promise<void> {
  const admin = createDirectoryAdmin(client.db('directory'));
  const limits = { requestsPerSecond: 1_000, nameEnquiriesPerMinute: 100_000 };
  const set = [
    await admin.setWebhooks('demo', { payoutsUrl, collectionsUrl: null }),
    await admin.setLimits(TROUBLEMAKER, limits),
  ];
  for (const one of set) if (!one.ok) throw new Error(one.refusal.message);
}

/** The troubles, each of which begins by itself. */
export function troublesOf(parts: {
  readonly stack: Stack;
  readonly deliveries: Collection<DeliveryRecord>;
  readonly silent: Receivers;
  readonly nameServer: NameServer;
  /** A server that answers whatever comes at once. */
  readonly bare: Receivers;
}): readonly Trouble[] {
  const { stack, deliveries, silent, nameServer, bare } = parts;
  const many = OWED.toLocaleString('en');
  const names = Array.from({ length: ENDPOINTS }, (_, index) => `https://dead-${index}.example.com`);
  return [
    {
      name: 'dead-endpoints',
      about: `${ENDPOINTS} endpoints of one merchant, owed ${many} webhooks, never answer`,
      begin: () => owe(deliveries, silent.origins),
      webhookRatioMax: 1.2,
    },
    {
      name: 'dead-names',
      about: `the name server of ${ENDPOINTS} endpoints of one merchant, owed ${many} webhooks, never answers`,
      begin: async () => {
        const before = nameServer.asked();
        const end = await owe(deliveries, names);
        return async () => `${await end()}, ${nameServer.asked() - before} questions`;
      },
    },
    {
      name: 'hanging-enquiries',
      about: `the rail never answers ${ENQUIRIES_PER_SECOND} name enquiries a second`,
      begin: () => Promise.resolve(enquire(stack)),
    },
    {
      name: 'forged-callbacks',
      about: `${CALLBACKS_PER_SECOND.toLocaleString('en')} forged callbacks come a second`,
      begin: () => {
        const { 'webhook-ingress': pid = 0 } = stack.runFile().pids;
        const url = `${stack.url('webhook-ingress')}/rails/upstream/payouts`;
        return forge(openFlood(url, CALLBACKS_PER_SECOND), { 'the ingress': pid });
      },
      beginBare: () => forge(openFlood(`${bare.origins[0]}/`, CALLBACKS_PER_SECOND), {}),
    },
  ];
}

/** Writes webhooks that are due now, as many at each of the addresses. */
async function owe(deliveries: Collection<DeliveryRecord>, origins: readonly string[]): Promise<End> {
  await writeBacklog(deliveries, {
    name: 'edge',
    merchantId: TROUBLEMAKER,
    origins,
    count: OWED,
    dueMs: Date.now(),
  });
  return async () => {
    const owed = { merchantId: TROUBLEMAKER };
    const [sum] = await deliveries
      .aggregate<{ readonly attempts: number }>([
        { $match: owed },
        { $group: { _id: null, attempts: { $sum: { $size: { $ifNull: ['$attemptLog', []] } } } } },
      ])
      .toArray();
    // What is in hand then ends without a record, for which there is nothing to be replaced.
    await deliveries.deleteMany(owed);
    return `${sum?.attempts ?? 0} attempts`;
  };
}

/** Asks for a name at a constant rate, whatever comes back. */
function enquire(stack: Stack): End {
  const { transferUrl, merchants } = stack.runFile();
  const { publicKey = '' } = merchants.find(({ id }) => id === TROUBLEMAKER) ?? {};
  const account = { accountNumber: HANGING_ACCOUNT, bankCode: '058', currency: 'NGN', country: 'NGA' };
  const answers: Record<string, number> = {};
  const ask = async () => {
    const answer = await postJson(
      `${transferUrl}/api/v1/transactions/name-enquiry`,
      JSON.stringify(account),
      { 'x-api-key': Buffer.from(publicKey).toString('base64') },
    ).catch(() => undefined);
    const what = `HTTP ${answer?.status ?? 'no answer'}`;
    answers[what] = (answers[what] ?? 0) + 1;
  };
  const asked: Promise<void>[] = [];
  const asking = setInterval(() => asked.push(ask()), MS_PER_SECOND / ENQUIRIES_PER_SECOND);
  return async () => {
    clearInterval(asking);
    await Promise.all(asked);
    return counted(answers);
  };
}

async function forge(flood: Flood, pids: Pids): Promise<End> {
  const before = await cpuSeconds(pids);
  return async () => {
    const { seconds, answers } = await flood.end();
    const sent = Object.values(answers).reduce((sum, count) => sum + count, 0);
    const cpu = cpuBetween(before, await cpuSeconds(pids)).map(
      ([name, used]) => `, ${Math.round((used / seconds) * 100)} % of a core at ${name}`,
    );
    return `${Math.round(sent / seconds)} a second: ${counted(answers)}${cpu.join('')}`;
  };
}

/** A name server of which no question is answered. */
export interface NameServer extends Disposable {
  /** How many questions it got. */
  readonly asked: () => number;
  /** For `NODE_OPTIONS` of a process that is to ask it. */
  readonly nodeOptions: string;
}

/** Opens a {@link NameServer} on loopback. */
export async function openNameServer(): Promise<NameServer> {
  let asked = 0;
  const socket = createSocket('udp4', () => {
    asked += 1;
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  // Resolvers ask the name servers of the system, for which there is no setting and which others use too.
  const preloaded = `import { promises as dns } from 'node:dns';
    dns.Resolver = class extends dns.Resolver {
      constructor(options) { super(options); this.setServers(['127.0.0.1:${socket.address().port}']); }
    };`;
  return {
    asked: () => asked,
    nodeOptions: `--import=data:text/javascript,${encodeURIComponent(preloaded)}`,
    [Symbol.dispose]: () => socket.close(),
  };
}

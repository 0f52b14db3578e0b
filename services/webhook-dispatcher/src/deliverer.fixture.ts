import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Directory, Merchant } from '@pesewa/directory';
import { createIds, DAY_MS, systemClock, systemRandom } from '@pesewa/kernel';
import {
  isDuplicateKey,
  type Messaging,
  type OutgoingEvent,
  type openDatabase,
  type Transaction,
} from '@pesewa/messaging';
import { type CrashPoint, createLogger } from '@pesewa/runtime';
import { createWebhookSecret } from '@pesewa/signatures';
import { startDeliverer } from './deliverer.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { createEndpointHealth } from './endpoint-health.ts';
import { startEndpointWatch } from './endpoint-watch.ts';
import { openHealthStore } from './health-store.ts';
import { openSender } from './sender.ts';
import type { DeliveryStore, NewDelivery } from './store.ts';

type Database = Awaited<ReturnType<typeof openDatabase>>;
type Answer = (response: ServerResponse) => void;
interface Seen {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A merchant's endpoint that gives the listed answers in order and then repeats the last one. */
export async function openEndpoint() {
  const seen: Seen[] = [];
  let answers: readonly Answer[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const answer = answers[Math.min(seen.length, answers.length - 1)];
      seen.push({ path: request.url, headers: request.headers, body });
      answer?.(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    origin,
    seen,
    answering: (...list: readonly Answer[]) => {
      answers = list;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Makes an answer with a status and headers, and without a body. */
export const status = (code: number, headers: Record<string, string> = {}): Answer => {
  return (response) => void response.writeHead(code, headers).end();
};

/** A group commit of what comes together, each alone if that fails, and the committed events. */
export function createTransactions(client: Database['client']) {
  const committed: OutgoingEvent[] = [];
  const run = async <Value>(work: Work<Value>, isRetry: boolean): Promise<Value> => {
    let events: OutgoingEvent[] = [];
    let actions: (() => void)[] = [];
    const value = await client.withSession((session) =>
      session.withTransaction(() => {
        events = [];
        actions = [];
        return work({
          session,
          isRetry,
          emit: (event) => void events.push(event),
          afterCommit: (action) => void actions.push(action),
          afterRollback: () => undefined,
        });
      }),
    );
    committed.push(...events);
    for (const action of actions) action();
    return value;
  };
  /** Runs the work again, as a retry, if a unique key was found taken. */
  const inTransaction = <Value>(work: Work<Value>): Promise<Value> =>
    run(work, false).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return run(work, true);
    });
  const groupCommit: Messaging['groupCommit'] = <Item, Outcome>(
    _name: string,
    apply: (
      items: readonly Item[],
      transaction: Transaction,
      isRetry: boolean,
    ) => Promise<readonly Outcome[]>,
  ) => {
    type Entry = PromiseWithResolvers<Outcome> & { readonly item: Item };
    const waiting: Entry[] = [];
    const commit = async (group: readonly Entry[]): Promise<void> => {
      const items = group.map(({ item }) => item);
      try {
        const outcomes = await inTransaction((transaction) => apply(items, transaction, false));
        for (const [index, entry] of group.entries()) entry.resolve(outcomes[index] as Outcome);
      } catch (error) {
        if (group.length > 1) for (const entry of group) await commit([entry]);
        else group[0]?.reject(error);
      }
    };
    return {
      submit: (item: Item) => {
        const entry = { ...Promise.withResolvers<Outcome>(), item };
        if (waiting.push(entry) === 1) setImmediate(() => void commit(waiting.splice(0)));
        return entry.promise;
      },
    };
  };
  return { committed, inTransaction, groupCommit };
}

type Work<Value> = (transaction: Transaction & { readonly isRetry: boolean }) => Promise<Value>;

/** Until when the second secret signs. */
const previousUntil = new Date(systemClock.nowMs() + 3_600_000);
export const secrets = [createWebhookSecret(systemRandom), createWebhookSecret(systemRandom)];
export const DEADLINE_MS = 400;
export const CONCURRENCY_PER_ENDPOINT_MAX = 2;
export const PER_MERCHANT_MAX = 12;

/**
 * A dispatcher without a consumer, for merchants at this endpoint unless a directory has others; `clock.aheadMs` moves
 * its clock.
 */
export async function openDispatcher(
  database: Database,
  store: DeliveryStore,
  { origin }: { readonly origin: string },
  {
    crashPoint = () => undefined,
    pauseMs = 20,
    deadlineMs = DEADLINE_MS,
    ...given
  }: {
    crashPoint?: CrashPoint;
    pauseMs?: number;
    deadlineMs?: number;
    directory?: Pick<Directory, 'find'>;
  } = {},
) {
  const resources = new AsyncDisposableStack();
  const transactions = createTransactions(database.client);
  const heard: unknown[] = [];
  const clock = { ...systemClock, aheadMs: 0, nowMs: () => systemClock.nowMs() + clock.aheadMs };
  const health = openHealthStore(database.db, 30);
  const endpoints = createEndpointHealth(health, { warnAfterMs: DAY_MS, disableAfterMs: 5 * DAY_MS });
  const deliveries: Deliveries = createDeliveries({
    store,
    clock,
    endpoints,
    messaging: { groupCommit: transactions.groupCommit },
    ended: (state) => void heard.push(state),
    claimOnWrite: (...request) => deliverer.claimOnWrite(...request),
    becameDue: () => deliverer.wake(),
  });
  const merchants = merchantsAt(origin);
  const directory = given.directory ?? {
    find: async (id: string) => merchants[id] as Merchant | undefined,
  };
  const logger = createLogger({ name: 'test', level: 'silent' });
  const sender = resources.use(
    openSender({ allowedOrigins: [origin], deadlineMs, connectionsPerOriginMax: 32, clock }),
  );
  const parts = { store, health, endpoints, directory, sender, clock, logger };
  const deliverer = resources.use(
    startDeliverer({
      ...parts,
      deliveries,
      attempted: ({ kind }) => void heard.push(kind),
      ids: createIds(systemClock, systemRandom),
      random: systemRandom,
      crashPoint,
      delaysMs: [20, 20],
      deadlineMs,
      concurrencyMax: 16,
      concurrencyPerEndpointMax: CONCURRENCY_PER_ENDPOINT_MAX,
      concurrencyPerMerchantMax: PER_MERCHANT_MAX,
      pauseMs,
    }),
  );
  const watch = resources.use(
    await startEndpointWatch({
      ...parts,
      messaging: transactions,
      becameDue: () => deliverer.wake(),
      pauseMs: 60_000,
    }),
  );
  const create = (...born: readonly NewDelivery[]) =>
    transactions.inTransaction((transaction) => deliveries.create(born, transaction));
  const { inTransaction, committed: events } = transactions;
  return { ...parts, resources, deliveries, watch, merchants, inTransaction, create, heard, events };
}

const merchantsAt = (origin: string): Record<string, Pick<Merchant, 'id' | 'webhooks'>> => ({
  demo: {
    id: 'demo',
    webhooks: {
      payoutsUrl: `${origin}/payouts`,
      collectionsUrl: `${origin}/collections`,
      secrets,
      previousUntil,
    },
  },
  rival: {
    id: 'rival',
    webhooks: { payoutsUrl: `${origin}/rival`, collectionsUrl: null, secrets, previousUntil },
  },
  silent: { id: 'silent', webhooks: { payoutsUrl: null, collectionsUrl: null, secrets, previousUntil } },
  inner: {
    id: 'inner',
    webhooks: { payoutsUrl: 'https://169.254.169.254/latest', collectionsUrl: null, secrets, previousUntil },
  },
});

/** A delivery that a merchant is owed. */
export const owed = (changes: Partial<NewDelivery> = {}): NewDelivery => ({
  _id: 'po-1-completed',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'M-1',
  kind: 'payout-completed',
  body: '{"data":{"amount":20.50}}',
  webhookUrl: null,
  bulkhead: 'demo payouts',
  causationId: 'ev-1',
  createdAtMs: systemClock.nowMs(),
  ...changes,
});

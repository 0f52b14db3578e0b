import { topics, walletKeyOf } from '@pesewa/contracts';
import { type Infrastructure, waitUntil } from '@pesewa/infrastructure';
import { MongoClient } from 'mongodb';
import { type Message, openFeed } from './feed.ts';
import { openMessageCounter } from './volumes.ts';

/** Feeds the ledger in a benchmark, and measures it. */
export interface LedgerTopics extends AsyncDisposable {
  readonly fund: (wallets: readonly string[]) => Promise<void>;
  /** Publishes hold requests and, if wanted, their captures; gives how many messages Kafka accepted per second. */
  readonly request: (
    count: number,
    wallets: readonly string[],
    run: string,
    captured: boolean,
  ) => Promise<number>;
  /** The postings of a run that the ledger holds. */
  readonly countPostings: (run: string) => Promise<number>;
  /**
   * Waits until the ledger has published that many further events; gives their rate, in events per second, after the
   * first `trimmed` of them, in which a process warms up.
   */
  readonly measure: (count: number, trimmed?: number) => Promise<number>;
}

const BATCH = 2_000;
const DEADLINE_MS = 180_000;
const CURRENCY = 'KES';
const FUNDING = 10n ** 12n;
const MAKER = 'bench';
const CHECKER = 'bench-two';

/** Opens a producer of commands and payouts, and a counter of the ledger's events. */
export async function openLedgerTopics(infrastructure: Infrastructure): Promise<LedgerTopics> {
  const feed = await openFeed(infrastructure, [topics.payouts, topics.ledgerCommands]);
  const client = await new MongoClient(infrastructure.env.MONGODB_URL).connect();
  const messages = await openMessageCounter(infrastructure);

  const published = () => messages.count(topics.ledger.name);
  let measured = await published();

  return {
    fund: async (wallets) => {
      await approveFunding(client, wallets);
      await feed.send(
        'ledgerCommands',
        wallets.map((merchantId) => ({
          key: walletKeyOf(merchantId, CURRENCY),
          type: 'pesewa.ledger.FundWallet',
          payload: {
            eventId: fundingId(merchantId),
            occurredAt: 1n,
            requestedBy: MAKER,
            approvedBy: CHECKER,
            amount: FUNDING,
            currency: CURRENCY,
            merchantId,
          },
        })),
      );
    },
    request: async (count, wallets, run, captured) => {
      const asked: Message[] = [];
      for (let start = 0; start < count; start += BATCH) {
        const payouts = Array.from({ length: Math.min(BATCH, count - start) }, (_, index) =>
          payoutOf(`${run}-${start + index}`, wallets[(start + index) % wallets.length] ?? ''),
        );
        asked.push(...payouts.map(acceptance));
        if (captured) asked.push(...payouts.map(completion));
      }
      const startedMs = performance.now();
      await feed.send('payouts', asked);
      return (1_000 * asked.length) / (performance.now() - startedMs);
    },
    countPostings: (run) =>
      client
        .db('ledger')
        .collection<{ _id: string }>('postings')
        // A minus sorts before a dot, so this covers all ids that begin with the run.
        .countDocuments({ _id: { $gte: `po-${run}-`, $lt: `po-${run}.` } }),
    measure: async (count, trimmed = 0) => {
      let start: { readonly atMs: number; readonly count: number } | undefined;
      const rate = await waitUntil('the ledger', DEADLINE_MS, async () => {
        const done = (await published()) - measured;
        const atMs = performance.now();
        if (done > trimmed) start ??= { atMs, count: done };
        if (done < count || !start) throw new Error(`${done} of ${count} events`);
        return (1_000 * (done - start.count)) / (atMs - start.atMs);
      });
      measured += count;
      return rate;
    },
    [Symbol.asyncDispose]: async () => {
      await messages[Symbol.asyncDispose]();
      await feed[Symbol.asyncDispose]();
      await client.close();
    },
  };
}

const fundingId = (merchantId: string): string => `fund-${merchantId}`;

/** Writes the orders in the state in which two operators leave them: the ledger applies no others. */
async function approveFunding(client: MongoClient, wallets: readonly string[]): Promise<void> {
  const now = new Date();
  const commands = client.db('ledger').collection<{ _id: string }>('commands');
  await commands.bulkWrite(
    wallets.map((target) => ({
      replaceOne: {
        filter: { _id: fundingId(target) },
        replacement: {
          kind: 'fund',
          target,
          currency: CURRENCY,
          amount: FUNDING,
          requestedBy: MAKER,
          at: now,
          status: 'approved',
          decidedBy: CHECKER,
          decidedAt: now,
        },
        upsert: true,
      },
    })),
  );
}

type Payout = ReturnType<typeof payoutOf>;

function payoutOf(id: string, merchantId: string) {
  return {
    id,
    payment: { reference: `po-${id}`, merchantReference: id, merchantId, currency: CURRENCY },
    amounts: { amount: 1_000n, fee: 10n },
  };
}

function acceptance({ id, payment, amounts }: Payout): Message {
  return {
    key: walletKeyOf(payment.merchantId, CURRENCY),
    type: 'pesewa.payouts.PayoutAccepted',
    payload: {
      eventId: `ev-${id}`,
      occurredAt: 1n,
      ...payment,
      ...amounts,
      country: 'KEN',
      channel: 'Bank Transfer',
      bankCode: '01',
      rail: 'upstream',
      batchReference: null,
      contentCheck: '',
    },
  };
}

function completion({ id, payment, amounts }: Payout): Message {
  return {
    key: walletKeyOf(payment.merchantId, CURRENCY),
    type: 'pesewa.payouts.PayoutCompleted',
    payload: {
      eventId: `ev-${id}-done`,
      occurredAt: 1n,
      ...payment,
      ...amounts,
      rail: 'upstream',
      railFee: 5n,
      statusReason: '',
    },
  };
}

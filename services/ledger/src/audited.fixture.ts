import { randomBytes } from 'node:crypto';
import { type AuditOptions, type AuditReport, auditLedger, type CheckpointStore } from '@pesewa/audit';
import { systemClock } from '@pesewa/kernel';
import { ensureDatabaseSchema, openDatabase } from '@pesewa/messaging';
import type { Db } from 'mongodb';
import { openBatchLedger } from './batches.fixture.ts';
import { COMMANDS, type OrderDocument } from './commands.ts';
import { ledgerDatabaseSchema } from './database-schema.ts';
import type { Folded, Posting } from './domain/books.ts';
import type { FloatOrder, Instruction, WalletOrder } from './domain/instructions.ts';
import { topicOf } from './domain/own-events.ts';
import { cut } from './scenarios.fixture.ts';
import { type LedgerStore, openLedgerStore } from './store.ts';

/** A ledger in a real MongoDB, written by its own store, together with the gateways' records. */
export interface AuditedLedger extends AsyncDisposable {
  readonly ledger: Db;
  readonly payouts: Db;
  readonly collections: Db;
  /** Applies instructions as the consumers of their topics would; orders among them are approved first. */
  readonly apply: (...instructions: readonly Instruction[]) => Promise<void>;
  /** Writes postings without an instruction, as the next page of a chain; everything else stays consistent. */
  readonly post: (
    place: { readonly chain: string; readonly atMs?: number },
    ...postings: readonly Posting[]
  ) => Promise<void>;
  readonly audit: (
    options?: Omit<AuditOptions, 'mongodbUrl' | 'databasePrefix' | 'clock' | 'allowedLagMs'>,
  ) => Promise<AuditReport>;
  /** Saves all databases in their present state. */
  readonly save: () => Promise<void>;
  /** Restores the saved state. */
  readonly restore: () => Promise<void>;
}

/** Keeps a checkpoint in memory; it can be set. */
export function memoryCheckpoints(): CheckpointStore & { kept: Uint8Array | undefined } {
  const store = {
    kept: undefined as Uint8Array | undefined,
    read: () => Promise.resolve(store.kept),
    write: (checkpoint: Uint8Array) => {
      store.kept = checkpoint;
      return Promise.resolve();
    },
  };
  return store;
}

const databases = ['ledger', 'payouts', 'collections'] as const;

/** Opens an {@link AuditedLedger} in its own databases, which are dropped with it. */
export async function openAuditedLedger(mongodbUrl: string): Promise<AuditedLedger> {
  const databasePrefix = `t${randomBytes(4).toString('hex')}_`;
  const open = await openDatabase({ url: mongodbUrl, database: `${databasePrefix}ledger`, appName: 'test' });
  await ensureDatabaseSchema(open.db, ledgerDatabaseSchema);
  let store = openLedgerStore(open.db);
  const openConsumers = () => openBatchLedger(open, systemClock.nowMs, { refundFee: true });
  let consumers = await openConsumers();
  let hasWritten = false;
  const saved = new Map<string, readonly object[]>();
  const [payouts, collections] = [
    open.client.db(`${databasePrefix}payouts`),
    open.client.db(`${databasePrefix}collections`),
  ];
  const byName = { ledger: open.db, payouts, collections };
  const inTransaction = (work: (transaction: Parameters<LedgerStore['write']>[2]) => Promise<void>) =>
    open.client.withSession(async (session) => {
      const actions: (() => void)[] = [];
      await session.withTransaction(() =>
        work({ session, afterCommit: (action) => void actions.push(action) }),
      );
      for (const action of actions) action();
    });
  return {
    ...byName,
    apply: async (...instructions) => {
      hasWritten = true;
      await approve(open.db, instructions);
      for (const { topic, instructions: batch } of cut(instructions, [3])) {
        await consumers.apply(batch, { topic, partition: 0 });
      }
    },
    post: ({ chain, atMs = systemClock.nowMs() }, ...postings) => {
      hasWritten = true;
      return inTransaction((transaction) =>
        store.write(foldedOf(postings), { chain, atMs }, transaction, () => undefined),
      );
    },
    audit: (options) =>
      auditLedger({ mongodbUrl, databasePrefix, clock: systemClock, allowedLagMs: 300, ...options }),
    save: () =>
      eachCollection(byName, async (db, name) => {
        saved.set(`${db.databaseName}.${name}`, await db.collection(name).find({}).toArray());
      }),
    restore: async () => {
      await eachCollection(byName, async (db, name) => {
        const documents = saved.get(`${db.databaseName}.${name}`) ?? [];
        await db.collection(name).deleteMany({});
        if (documents.length > 0) await db.collection(name).insertMany([...documents]);
      });
      // The store has cached its chains' newest pages, which are no longer the newest.
      if (hasWritten) {
        store = openLedgerStore(open.db);
        consumers = await openConsumers();
      }
      hasWritten = false;
    },
    [Symbol.asyncDispose]: async () => {
      for (const name of databases) await byName[name].dropDatabase();
      await open[Symbol.asyncDispose]();
    },
  };
}

/** Writes the orders among instructions in the state in which two operators leave them. */
async function approve(db: Db, instructions: readonly Instruction[]): Promise<void> {
  const commands = db.collection<OrderDocument>(COMMANDS);
  for (const order of instructions.filter(isOrder)) {
    const { kind, reference, currency, amount } = order;
    const target = 'rail' in order ? order.rail : order.merchantId;
    const direction = 'direction' in order ? order.direction : undefined;
    const decision = { status: 'approved', requestedBy: 'ama', decidedBy: 'kofi', decidedAt: new Date() };
    const document = {
      kind,
      target,
      currency,
      amount,
      direction,
      reason: 'reported',
      at: new Date(),
      ...decision,
    };
    await commands.replaceOne({ _id: reference }, document as Omit<OrderDocument, '_id'>, { upsert: true });
  }
}

function isOrder(instruction: Instruction): instruction is WalletOrder | FloatOrder {
  return topicOf(instruction.kind) === 'ledgerCommands';
}

async function eachCollection(
  byName: Readonly<Record<(typeof databases)[number], Db>>,
  work: (db: Db, name: string) => Promise<void>,
): Promise<void> {
  for (const database of databases) {
    for (const { name } of await byName[database].listCollections().toArray())
      await work(byName[database], name);
  }
}

/** The result of folding bare postings: wallets as in their last posting, and the changes of shared accounts. */
function foldedOf(postings: readonly Posting[]): Folded {
  const wallets = new Map<
    string,
    Folded['wallets'] extends ReadonlyMap<string, infer Change> ? Change : never
  >();
  const accountDeltas = new Map<string, { debits: bigint; credits: bigint }>();
  const move = (account: string, side: 'debits' | 'credits', amount: bigint) => {
    if (account.startsWith('wallet:')) return;
    const delta = accountDeltas.get(account) ?? { debits: 0n, credits: 0n };
    delta[side] += amount;
    accountDeltas.set(account, delta);
  };
  for (const { debit, credit, amount } of postings.flatMap(({ entries }) => entries)) {
    move(debit, 'debits', amount);
    move(credit, 'credits', amount);
  }
  for (const { wallet, currency, causationId, ...stated } of postings) {
    if (wallet === undefined) continue;
    const { walletSequence: sequence = 0n, availableAfter: available = 0n, heldAfter: held = 0n } = stated;
    const after = { merchantId: wallet.split(':')[0] ?? '', currency, available, held, sequence };
    wallets.set(wallet, { isNew: false, after, causationId });
  }
  return { postings, wallets, holds: new Map(), refusals: [], accountDeltas };
}

import { fullName, topics } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import { type Database, idOf, type Messaging, type OutgoingEvent, recoverDatabase } from '@pesewa/messaging';
import { ledgerDatabaseSchema } from './database-schema.ts';
import type { Instruction } from './domain/instructions.ts';
import type { OwnEvent } from './domain/own-events.ts';
import { createPublishedCheck } from './lacking-events.ts';
import { recoverLedger, rollPartitionForward as rollForward } from './roll-forward.ts';
import type { Batch } from './scenarios.fixture.ts';
import { openLedgerStore } from './store.ts';

/** An event of the ledger's topic as Kafka holds it: with exactly the fields of its schema. */
export function published(event: OutgoingEvent): OwnEvent {
  const schema = topics.ledger.events.find((one) => fullName(one) === event.type);
  if (!schema) throw new TypeError(`${event.type} does not travel on the ledger's topic`);
  const fields: Readonly<Record<string, unknown>> = { ...event.payload, eventId: idOf(event) };
  const payload = Object.fromEntries(schema.fields.map(({ name }) => [name, fields[name]]));
  const { type, version, causationId } = event;
  return { type, payload, version, causationId: causationId ?? '' } as unknown as OwnEvent;
}

/** All documents of a database, by collection. */
export type Backup = ReadonlyMap<string, readonly object[]>;

/** The collections that must be the same again after an older database has come forward. */
export const BOOKS = ['accounts', 'commands', 'pages', 'postings', 'refusals', 'wallets'];

/** Copies a whole database or some of its collections, sorted by their ids. */
export async function copyDatabase({ db }: Pick<Database, 'db'>, names?: readonly string[]): Promise<Backup> {
  const all = await db.listCollections().toArray();
  const wanted = names ?? all.map(({ name }) => name);
  const copied = wanted.map(
    async (name) => [name, await db.collection(name).find().sort({ _id: 1 }).toArray()] as const,
  );
  return new Map(await Promise.all(copied));
}

/** Restores a database from a copy. */
export async function restoreDatabase({ db }: Pick<Database, 'db'>, backup: Backup): Promise<void> {
  for (const { name } of await db.listCollections().toArray()) {
    const documents = backup.get(name) ?? [];
    await db.collection(name).deleteMany({});
    if (documents.length > 0) await db.collection(name).insertMany([...documents]);
  }
}

/** The log and the published events of a coming forward. */
export interface Forwarded {
  readonly warnings: readonly string[];
  readonly emitted: readonly OwnEvent[];
}

/**
 * Brings a database forward in a new process, by these events of its topic; the process may die before a transaction
 * commits.
 */
export async function rollPartitionForward(
  { db, client }: Database,
  events: readonly OwnEvent[],
  options: {
    readonly gaps?: 'pass';
    readonly diesAt?: number;
    /** If false, the database is only checked, as at the start of the ledger. */
    readonly isOlder?: boolean;
  } = {},
): Promise<Forwarded> {
  const warnings: string[] = [];
  const all: OwnEvent[] = [];
  let left = options.diesAt ?? Number.POSITIVE_INFINITY;
  const inTransaction: Messaging['inTransaction'] = (work) =>
    client.withSession(async (session) => {
      let actions: (() => void)[] = [];
      let emitted: OutgoingEvent[] = [];
      const value = await session.withTransaction(async () => {
        actions = [];
        emitted = [];
        const done = await work({
          session,
          emit: (event) => void emitted.push(event),
          afterCommit: (action) => void actions.push(action),
          afterRollback: () => undefined,
        });
        left -= 1;
        if (left < 0) throw new Error('died');
        return done;
      });
      for (const action of actions) action();
      all.push(...emitted.map(published));
      return value;
    });
  const since = async function* (_topic: string, _partition: number, sinceMs: number) {
    // As Kafka has them: an event's time is that of its batch's commit, or later.
    yield events.filter(({ payload }) => Number(payload.occurredAt) >= sinceMs);
  };
  const messaging = { db, inTransaction, since: since as unknown as Messaging['since'] };
  const deps = { messaging, store: openLedgerStore(db) };
  const report = (line: string) => {
    if (/^page .* differs/.test(line)) warnings.push(line.replace(/^page \d+ of \S+/, 'a page'));
  };
  if (options.isOlder === false) await createPublishedCheck(deps)(0);
  else await rollForward({ ...deps, passesGaps: options.gaps === 'pass', report }, 0);
  return { warnings, emitted: all };
}

/** Repairs the database of a stopped ledger. */
export function recover(
  scope: Parameters<typeof recoverDatabase>[0],
  { isDryRun = false, repair = recoverLedger }: { isDryRun?: boolean; repair?: typeof recoverLedger } = {},
): Promise<string> {
  const options = { service: 'ledger', databaseSchema: ledgerDatabaseSchema, isDryRun } as const;
  const silent = { passesGaps: false, isRestored: false, report: () => undefined };
  return recoverDatabase(scope, { ...options, ...silent }, repair);
}

/** The clock of these tests' ledgers, which advances with each reading. */
export function openTicking(): () => number {
  let ms = systemClock.nowMs();
  return () => {
    ms += 1_000;
    return ms;
  };
}

const wallet = { merchantId: 'demo', currency: 'KES' };
/** An order that funds a merchant's wallet. */
export const fund = (reference: string, amount: bigint, merchantId = 'demo'): Batch => ({
  topic: 'ledgerCommands',
  instructions: [{ ...wallet, merchantId, kind: 'fund', causationId: reference, reference, amount }],
});
const payoutOf = (reference: string, amount: bigint) => ({
  ...wallet,
  causationId: `ev-${reference}`,
  reference,
  amount,
  fee: 10n,
});
/** Payouts of 1.00 each, with their fees. */
export const hold = (...references: readonly string[]): Batch => ({
  topic: 'payouts',
  instructions: references.map(
    (reference): Instruction => ({ ...payoutOf(reference, 90n), kind: 'hold', rail: 'upstream' }),
  ),
});
/** A collection without a fee. */
export const collect = (reference: string, received: bigint): Batch => {
  const payment = { ...wallet, causationId: `ev-${reference}`, reference, rail: 'upstream' };
  return {
    topic: 'collections',
    instructions: [{ ...payment, kind: 'collect', received, fee: 0n, railFee: 1n }],
  };
};

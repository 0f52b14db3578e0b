import { unreachable } from '@pesewa/kernel';
import { handleTopic, openDatabase, openMessagingAs, recoverDatabase } from '@pesewa/messaging';
import type { SubmissionResult } from '@pesewa/rails';
import type { Db, Document } from 'mongodb';
import { openReplica } from './acceptance.fixture.ts';
import { payoutDatabaseSchema } from './database-schema.ts';
import { startDecisionApplier } from './decision-applier.ts';
import { createHandlers } from './handlers.ts';
import { marksOf } from './marks.ts';
import { requireCurrentDatabase } from './older-database.ts';
import { recoverPayoutGateway } from './recovery.ts';
import { startSubmitter } from './submitter.ts';

type Scope = Parameters<typeof openReplica>[0];

/** Answers each payout as the ledger would, without any books. */
export async function openLedger(scope: Scope): Promise<void> {
  const ledger = await openMessagingAs(scope, {
    service: 'ledger',
    database: 'ledger',
    produces: ['ledger'],
  });
  const handled = {
    'pesewa.payouts.PayoutSubmitted': 'ignored',
    'pesewa.payouts.PayoutReversed': 'ignored',
    'pesewa.payouts.PayoutAccepted': 'handled',
    'pesewa.payouts.PayoutCompleted': 'handled',
    'pesewa.payouts.PayoutFailed': 'handled',
  } as const;
  await ledger.consume([
    handleTopic('payouts', handled, async (events, transaction) => {
      for (const { type, eventId, payload } of events) {
        const { reference, merchantId, currency, amount, fee, rail } = payload;
        const wallet = { occurredAt: 1n, reference, merchantId, currency };
        const key = `${merchantId}:${currency}`;
        const address = { topic: 'ledger', key, version: 1n, causationId: eventId } as const;
        const held = amount + fee;
        switch (type) {
          case 'pesewa.payouts.PayoutAccepted':
            transaction.emit({
              ...address,
              type: 'pesewa.ledger.HoldPlaced',
              payload: { ...wallet, held, fee, rail },
            });
            break;
          case 'pesewa.payouts.PayoutFailed':
            transaction.emit({
              ...address,
              type: 'pesewa.ledger.HoldReleased',
              payload: { ...wallet, held },
            });
            break;
          case 'pesewa.payouts.PayoutCompleted': {
            const captured = { ...wallet, amount, fee, rail, railCost: payload.railFee };
            transaction.emit({ ...address, type: 'pesewa.ledger.HoldCaptured', payload: captured });
            break;
          }
          default:
            unreachable(type);
        }
      }
    }),
  ]);
}

/** A rail's answer for a payout, by our reference. */
export type Rail = (reference: string) => SubmissionResult | Promise<SubmissionResult>;

/** One run of the gateway, with the test's rail; without a rail it only accepts payouts. */
export async function openGateway<Opened extends Scope & AsyncDisposable>(
  scope: Opened,
  rail?: Rail,
  { pauseMs = 20 }: { readonly pauseMs?: number } = {},
) {
  const { clock, logger } = scope;
  const replica = await openReplica(scope);
  const { messaging, payouts, store, db } = replica;
  const current = requireCurrentDatabase({ messaging, store, marks: marksOf(db), clock, logger });
  await scope.open('mark of a current database', current);
  const asked: string[] = [];
  if (rail) {
    const { ids, crashPoint } = scope;
    const isPaused = () => false;
    const acting = { messaging, payouts, store, clock, ids, logger, isPaused, pauseMs };
    const submit = async ({ reference }: { readonly reference: string }) => {
      asked.push(reference);
      return rail(reference);
    };
    const rails = [{ name: 'upstream', isAvailable: () => true, payouts: { submit } }];
    const { claimDue, wake: becameDue } = await scope.open(
      'submitter',
      Promise.resolve(startSubmitter({ ...acting, rails, concurrencyMax: 16, crashPoint })),
    );
    await scope.open(
      'decision applier',
      Promise.resolve(startDecisionApplier({ ...acting, resubmitGraceMs: 0 })),
    );
    await messaging.consume(
      createHandlers({
        payouts,
        store,
        balances: { apply: async () => undefined },
        clock,
        resubmitGraceMs: 0,
        claimDue,
        becameDue,
      }),
    );
    scope.health.setServing(true);
  }
  return { ...replica, scope, asked, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() };
}

/** Repairs the database while no gateway runs. */
export function recover(scope: Scope, isDryRun = false): Promise<string> {
  const options = { service: 'payout-gateway', databaseSchema: payoutDatabaseSchema, isDryRun } as const;
  const silent = { passesGaps: false, isRestored: true, report: () => undefined };
  return recoverDatabase(scope, { ...options, ...silent }, recoverPayoutGateway);
}

/** A copy of a database. */
export type Backup = ReadonlyMap<string, readonly Document[]>;

/** Copies a database. */
export async function copyOf(db: Db): Promise<Backup> {
  const names = (await db.listCollections().toArray()).map(({ name }) => name);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await db.collection(name).find().toArray()] as const)),
  );
}

/** Restores a copy while no gateway runs, as if it were an hour old. */
export async function putBack(
  { MONGODB_URL: url, DATABASE_PREFIX: prefix }: Scope['config'],
  copy: Backup,
): Promise<void> {
  await using database = await openDatabase({ url, database: `${prefix}payouts`, appName: 'test' });
  const { db } = database;
  for (const { name } of await db.listCollections().toArray()) await db.collection(name).deleteMany({});
  for (const [name, documents] of copy)
    if (documents.length > 0) await db.collection(name).insertMany([...documents]);
  await db.collection('leases').deleteMany({});
  const anHourAgo = { $set: { at: { $subtract: ['$at', 3_600_000] } } };
  const { matchedCount } = await db.collection('marks').updateMany({}, [anHourAgo]);
  if (matchedCount !== 1) throw new Error('the copy does not say when it was current');
}

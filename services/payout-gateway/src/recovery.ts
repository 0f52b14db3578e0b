import { topics } from '@pesewa/contracts';
import type { Recovery } from '@pesewa/messaging';
import { paymentId } from '@pesewa/payments';
import type { Filter } from 'mongodb';
import { keyOf } from './acceptance.ts';
import { catchUp, type OwnEvent, rebuildPayout } from './domain/rebuilt-payout.ts';
import { type Marks, marksOf } from './marks.ts';
import { lackingEvents, readFromMs } from './older-database.ts';
import { openPayoutStore, type PayoutDocument, type PayoutStore } from './store.ts';

/** What {@link recoverPayouts} needs. */
export type RecoveryDeps = Recovery & { readonly store: PayoutStore; readonly marks: Marks };

/** Repairs a restored database: see {@link recoverPayouts}. */
export function recoverPayoutGateway(recovery: Recovery): Promise<void> {
  const { db } = recovery.messaging;
  return recoverPayouts({ ...recovery, store: openPayoutStore(db), marks: marksOf(db) });
}

const PAYOUTS_PER_TRANSACTION = 200;
const KEPT_MS = topics.payouts.retentionDays * 86_400_000;

/**
 * Brings back what the database has forgotten, by the service's own published events: payouts without their recipients,
 * and how far others had come. Any payout that may have been sent since the backup without a published event is then
 * taken for sent, so that its rail is asked first (ADR 45), also if no event is lacking: none may have been published.
 *
 * @throws Error if events since the backup are no longer in the topic, and it does not pass gaps
 */
export async function recoverPayouts(deps: RecoveryDeps): Promise<void> {
  const { store, report, isDryRun, passesGaps, clock } = deps;
  const sinceMs = await readFromMs(store);
  if (!isDryRun && !passesGaps && sinceMs < clock.nowMs() - KEPT_MS)
    throw new Error(
      `payouts accepted after ${new Date(sinceMs).toISOString()} may be forgotten for good, because their topic keeps ${topics.payouts.retentionDays} days: restore a more recent backup, or go on without them by --pass-gaps`,
    );
  if (!isDryRun) await deps.begin();
  const lacking = new Set<string>();
  /** Events that came before the acceptance of their payout. */
  const early = new Map<string, readonly OwnEvent[]>();
  for await (const events of lackingEvents(deps, sinceMs)) {
    const byReference = [...Map.groupBy(events, ({ payload }) => payload.reference)];
    for (const [reference] of byReference) lacking.add(reference);
    for (let first = 0; !isDryRun && first < byReference.length; first += PAYOUTS_PER_TRANSACTION)
      await bringForward(deps, early, byReference.slice(first, first + PAYOUTS_PER_TRANSACTION));
    report(`events of ${lacking.size} payouts ${isDryRun ? 'are lacking' : 'are applied again'}`);
  }
  if (early.size > 0 && !passesGaps)
    throw new Error(
      `the acceptances of ${early.size} payouts are no longer in their topic, and if they are left out, their merchants can have them paid again: restore a more recent backup, or go on without them by --pass-gaps`,
    );
  for (const reference of early.keys())
    await leaveOut(deps, reference, 'it was accepted before what its topic still has');
  const doubted = isDryRun
    ? await store.collection.countDocuments(UNSENT)
    : (await store.collection.updateMany(UNSENT, DOUBT)).modifiedCount;
  // What the rail says of a payout without an attempt would be refused.
  if (!isDryRun) await store.collection.updateMany(WITHOUT_ATTEMPT, [{ $set: { attemptedAt: '$$NOW' } }]);
  report(`the rails are asked about ${doubted} payouts before any of them is sent`);
}

/** Without a sign that their rail has acknowledged them. */
const UNSENT: Filter<PayoutDocument> = { status: 'INITIALIZED', step: { $ne: 'submitted' } };
const WITHOUT_ATTEMPT: Filter<PayoutDocument> = { status: 'INITIALIZED', attemptedAt: { $exists: false } };
const isHeld = { $eq: ['$step', 'held'] };
const what = 'the database was restored: its rail is asked before it is sent';
/**
 * A hold that is not answered for is still waited for; a decision that waits for an attempt keeps its time. What may have
 * been sent counts as one more attempt: a later one that was not sent, or the late record of an earlier one by a process
 * that wakes, does not end the doubt.
 */
const DOUBT = [
  {
    $set: {
      step: { $cond: [isHeld, 'unknown', '$step'] },
      version: { $add: ['$version', 1n] },
      earlierUnclear: true,
      attempts: { $add: ['$attempts', 1] },
      attemptedAt: '$$NOW',
      dueAt: { $cond: [isHeld, '$$REMOVE', '$dueAt'] },
      claim: { $cond: [isHeld, '$$REMOVE', '$claim'] },
      timeline: { $concatArrays: [{ $ifNull: ['$timeline', []] }, [{ what, at: '$$NOW' }]] },
    },
  },
];

/** Applies events to their payouts, and inserts the payouts that the database lacks. */
async function bringForward(
  deps: RecoveryDeps,
  early: Map<string, readonly OwnEvent[]>,
  lacking: readonly (readonly [string, readonly OwnEvent[]])[],
): Promise<void> {
  const { messaging, store } = deps;
  const given = new Map(
    lacking.map(([reference, events]) => [reference, [...(early.get(reference) ?? []), ...events]]),
  );
  const { waiting, others } = await messaging.inTransaction(async ({ session }) => {
    const missing = new Map(given);
    const known = await store.findByReferences([...given.keys()], session);
    const changes = known.flatMap((before) => {
      missing.delete(before.reference);
      const after = catchUp(before, given.get(before.reference) ?? []);
      return after.version > before.version ? [{ before, after }] : [];
    });
    const rebuilt = [...missing.values()].flatMap((events) => rebuildPayout(events) ?? []);
    for (const { reference } of rebuilt) missing.delete(reference);
    const taken = new Set(await store.findUsedIds(rebuilt.map(keyOf), session));
    // If two have the same reference of one merchant, the first one in the topic keeps it, as when both were accepted.
    const { back = [], others = [] } = Object.groupBy(rebuilt, (payout) => {
      const id = paymentId(keyOf(payout));
      if (taken.has(id)) return 'others';
      taken.add(id);
      return 'back';
    });
    if (back.length > 0) await store.insert(back, session);
    if (changes.length > 0) await store.save(changes, session);
    return { waiting: missing, others };
  });
  for (const reference of given.keys()) early.delete(reference);
  for (const [reference, events] of waiting) early.set(reference, events);
  for (const { reference } of others)
    await leaveOut(deps, reference, 'another one has the reference that its merchant gave it');
}

async function leaveOut({ marks, report }: RecoveryDeps, reference: string, why: string): Promise<void> {
  await marks.leaveOut(reference);
  report(`${reference} has no record and is left out: ${why}`);
}

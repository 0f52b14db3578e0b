import type { Clock } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { ClientSession, Db } from 'mongodb';
import { applyReports } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import { type Break, type FoundBreak, kindsOf } from '../domain/break.ts';
import type { BreakKind } from '../domain/break-kinds.ts';
import { breakOfKind, toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import { causeOf, isUnknown, type Tracked } from '../domain/tracked.ts';
import type { WorkingStore } from '../store.ts';

const KIND: BreakKind = 'callback.unknown_reference';

/** Written once in each transaction that opens such breaks of a rail, so that no two count at the same time. */
interface LockDocument {
  readonly _id: string;
  readonly taken: number;
}

/** The dependencies of {@link createUnknownReferences}. */
export interface UnknownReferenceDeps {
  readonly db: Db;
  readonly store: WorkingStore;
  readonly breaks: BreakStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** How many of these breaks may be open per rail: anybody can make up references. */
  readonly openMax: number;
  /** How long a reference is kept; milliseconds. */
  readonly keepMs: number;
  /** Counts a reference that gets no break because too many are open. */
  readonly hidden: (rail: string) => void;
  readonly clock: Clock;
}

/** Builds the function that opens a break for an unknown reference, or deletes it once it has waited long enough. */
export function createUnknownReferences(deps: UnknownReferenceDeps): (reference: string) => Promise<void> {
  const looks = deps.messaging.groupCommit<string, void>(
    'reconciler.unknown',
    async (references, transaction) => {
      const loaded = await deps.store.load(references, transaction.session);
      await finish(deps, [...loaded.values()], transaction);
      return references.map(() => undefined);
    },
  );
  return looks.submit;
}

async function finish(
  deps: UnknownReferenceDeps,
  loaded: readonly Tracked[],
  transaction: Transaction,
): Promise<void> {
  const nowMs = deps.clock.nowMs();
  // A payment that has become known since is skipped: its owner's event has closed the break.
  const waiting = loaded.filter(({ terms }) => terms === null);
  const unknown = waiting.filter(isUnknown);
  // By the clock that claimed it as due: by our own, which may be behind, it would be claimed again and again until
  // then.
  const old = unknown.filter(({ openedAtMs, askedAtMs }) => (askedAtMs ?? nowMs) - openedAtMs >= deps.keepMs);
  const fresh = unknown.filter((tracked) => !old.includes(tracked));
  const shown = await show(deps, fresh, nowMs, transaction);
  const known = waiting
    .filter((tracked) => !isUnknown(tracked))
    .map((tracked) => ({ ...tracked, dueAtMs: null, claim: null }));
  await deps.store.save([...shown, ...known], transaction.session);
  await forget(deps, old, nowMs, transaction);
}

/** Opens a break for each reference without one, as far as its rail's limit allows. */
async function show(
  deps: UnknownReferenceDeps,
  fresh: readonly Tracked[],
  nowMs: number,
  transaction: Transaction,
): Promise<readonly Tracked[]> {
  const { session } = transaction;
  const ids = fresh.map(({ reference }) => breakOfKind(reference, KIND));
  // A break may be left from an earlier time, when the same reference was deleted.
  const kept = await deps.breaks.findAll(ids, session);
  const known = new Set(kept.filter(isShown).map(({ _id }) => _id));
  const rooms = new Map<string, number>();
  const opened: FoundBreak[] = [];
  const shown = new Map<string, Tracked>();
  for (const tracked of fresh) {
    shown.set(tracked.reference, { ...tracked, dueAtMs: tracked.openedAtMs + deps.keepMs, claim: null });
    const rail = tracked.callbacks[0]?.rail;
    if (rail === undefined || known.has(breakOfKind(tracked.reference, KIND))) continue;
    const room = rooms.get(rail) ?? (await roomOf(deps, rail, session));
    rooms.set(rail, Math.max(0, room - 1));
    if (room === 0) {
      transaction.afterCommit(() => deps.hidden(rail));
      continue;
    }
    opened.push(breakOf(tracked, rail, new Date(nowMs)));
  }
  await applyReports(deps.breaks, opened, shown, transaction);
  return [...shown.values()];
}

/** Whether the break of a reference has shown to people that it is unknown. */
function isShown(one: Break): boolean {
  return kindsOf(one).includes(KIND) || (one.judged ?? []).some((key) => key.startsWith(`${KIND} `));
}

async function roomOf(
  { db, breaks, openMax }: UnknownReferenceDeps,
  rail: string,
  session: ClientSession,
): Promise<number> {
  if (openMax === 0) return 0;
  const locks = db.collection<LockDocument>('locks');
  await locks.updateOne({ _id: `${KIND}/${rail}` }, { $inc: { taken: 1 } }, { session, upsert: true });
  return openMax - (await breaks.countOpenOf({ kind: KIND, rail }, openMax, session));
}

function breakOf(tracked: Tracked, rail: string, openedAt: Date): FoundBreak {
  const detail = `a callback of ${rail} names an unknown payment`;
  const place = { rail, currency: null };
  const found = toFoundBreak(tracked.reference, { kind: KIND, amount: null, detail }, place, openedAt);
  return { ...found, cause: causeOf(tracked) };
}

async function forget(
  { store, breaks }: UnknownReferenceDeps,
  old: readonly Tracked[],
  nowMs: number,
  transaction: Transaction,
): Promise<void> {
  if (old.length === 0) return;
  const resolution = 'no such payment appeared; the callback stays with the ingress';
  const gone = old.map(({ reference }) =>
    toWithdrawal(reference, { kind: KIND, resolution }, new Date(nowMs)),
  );
  await applyReports(breaks, gone, new Map(), transaction);
  await store.forget(
    old.map(({ reference }) => reference),
    transaction.session,
  );
}

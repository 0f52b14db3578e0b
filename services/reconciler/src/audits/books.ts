import type { Clock } from '@pesewa/kernel';
import { type Loop, type Messaging, startLoop, type Transaction } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { type BreakStore, breakId } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import type { FoundBreak } from '../domain/break.ts';
import type { Finding } from '../domain/question.ts';
import type { Tracked } from '../domain/tracked.ts';
import { afterVerdict } from '../domain/verdict.ts';
import type { ReconcilerEvents } from '../events.ts';
import type { WorkingStore } from '../store.ts';

/** What the loop over the books needs. */
export interface BooksDeps {
  readonly store: WorkingStore;
  readonly breaks: Pick<BreakStore, 'open'>;
  readonly events: ReconcilerEvents;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp'>;
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const BATCH = 200;
const CAUGHT_UP_TIMEOUT_MS = 5_000;

/**
 * Holds payments against the ledger's entries that do not bear each other out a grace time later (design 5, ADR 27).
 *
 * Only what is in Kafka may be missed: before it judges, everything is applied here that the topics held after the grace
 * time. Nothing outside is called, so replicas need no claim: of two that look at the same payment one finds it judged.
 */
export function startBooks(deps: BooksDeps): Loop {
  const judging = deps.messaging.groupCommit<string, void>(
    'reconciler.books',
    async (references, transaction) => {
      await judge(deps, references, transaction);
      return references.map(() => undefined);
    },
  );
  return startLoop({
    name: 'reconciler books',
    pauseMs: deps.pauseMs,
    clock: deps.clock,
    logger: deps.logger,
    round: async (signal) => {
      const dueByMs = deps.clock.nowMs();
      let due = await findDue(deps, dueByMs);
      if (due.length === 0) return false;
      if (!(await deps.messaging.caughtUp(['payouts', 'collections', 'ledger'], CAUGHT_UP_TIMEOUT_MS)))
        return false;
      do {
        due = await findDue(deps, dueByMs);
        await Promise.all(due.map(judging.submit));
      } while (due.length === BATCH && !signal.aborted);
      return false;
    },
  });
}

async function findDue({ store }: BooksDeps, dueByMs: number): Promise<readonly string[]> {
  const found = await store.collection
    .find({ booksDueAt: { $lte: new Date(dueByMs) } })
    .project<{ _id: string }>({ _id: 1 })
    .sort({ booksDueAt: 1 })
    .limit(BATCH)
    .toArray();
  return found.map(({ _id }) => _id);
}

/** Opens a break for each payment that is still not borne out; whatever comes later closes it (domain/closings.ts). */
async function judge(
  { store, breaks, events, clock }: BooksDeps,
  references: readonly string[],
  transaction: Transaction,
): Promise<void> {
  const nowMs = clock.nowMs();
  const loaded = await store.load(references, transaction.session);
  const found: FoundBreak[] = [];
  const judged: Tracked[] = [];
  for (const tracked of loaded.values()) {
    if (tracked.booksDueAtMs === null) continue;
    const finding = judgeBooks(tracked);
    const isNews = finding !== undefined && !tracked.breaks.includes(finding.kind);
    const findings = isNews ? [finding] : [];
    found.push(...findings.map((one) => breakOf(tracked, one, new Date(nowMs))));
    judged.push(afterVerdict({ ...tracked, booksDueAtMs: null }, { fact: null, findings }, nowMs));
  }
  await store.save(judged, transaction.session);
  const opened = await breaks.open(found, transaction.session);
  for (const document of opened) transaction.emit(events.breakOpened(document));
}

function breakOf(
  { reference, terms, booked }: Tracked,
  { kind, amount, detail }: Finding,
  openedAt: Date,
): FoundBreak {
  const { rail, currency } = terms ?? booked ?? { rail: undefined, currency: null };
  return {
    _id: breakId(reference, kind),
    kind,
    reference,
    ...(rail !== undefined && { rail }),
    currency,
    amount: currency === null ? null : amount,
    detail,
    openedAt,
  };
}

import type { Transaction } from '@pesewa/messaging';
import type { Break, FoundBreak, Withdrawal } from '../domain/break.ts';
import type { Verdict } from '../domain/judging.ts';
import { standingKinds } from '../domain/manual-resolution.ts';
import { breakId, observe, toFoundBreak, toWithdrawal, withdraw } from '../domain/observing.ts';
import { causeOf, type Terms, type Tracked, withBreaks, withoutBreaks } from '../domain/tracked.ts';
import { breakOpened, breakResolved } from '../events.ts';
import type { BreakStore } from './store.ts';

/** What an observer says of a field that differs, or no longer says. */
export type BreakReport = FoundBreak | Withdrawal;

/**
 * Applies reports to the breaks of their fields, in order, and publishes those that open or close. Notes them in the
 * payments that are given, in place: the caller saves these.
 *
 * Two concurrent transactions that open the same break conflict by its id: the second runs again and finds the first.
 */
export async function applyReports(
  breaks: Pick<BreakStore, 'findAll' | 'save'>,
  reports: readonly BreakReport[],
  payments: Map<string, Tracked>,
  { session, emit }: Pick<Transaction, 'session' | 'emit'>,
): Promise<void> {
  if (reports.length === 0) return;
  const idOf = ({ reference, field }: BreakReport) => breakId(reference, field);
  const before = new Map(
    (await breaks.findAll([...new Set(reports.map(idOf))], session)).map((one) => [one._id, one]),
  );
  const after = new Map(before);
  for (const one of reports) {
    const current = after.get(idOf(one));
    const next = isWithdrawal(one) ? current && withdraw(one, current) : observe(one, current);
    if (!next) continue;
    after.set(next._id, next);
    const isOpen = next.status === 'open';
    if (isOpen && current?.status !== 'open') emit(breakOpened(next));
    if (!isOpen && current?.status === 'open') emit(breakResolved(next, one.cause));
    const payment = payments.get(one.reference);
    if (payment) payments.set(one.reference, afterReport(payment, one, next));
  }
  const changed = [...after.values()].filter((one) => one !== before.get(one._id));
  await breaks.save(changed, session);
}

/** What a verdict reports: what it finds, and what the rail's lookup says no more. */
export function reportsOfVerdict(
  tracked: Pick<Tracked, 'reference' | 'causedBy' | 'traceparent'>,
  terms: Terms,
  { findings, agreed = [] }: Pick<Verdict, 'findings'> & Partial<Pick<Verdict, 'agreed'>>,
  at: Date,
): readonly BreakReport[] {
  const cause = causeOf(tracked);
  const found = findings.map((finding) => ({
    ...toFoundBreak(tracked.reference, finding, terms, at),
    ...(cause.eventId !== undefined && { cause }),
  }));
  const resolution = "the rail's lookup says what we have";
  const gone = agreed.map((kind) => ({
    ...toWithdrawal(tracked.reference, { kind, resolution }, at, cause),
    observer: 'poll' as const,
  }));
  return [...gone, ...found];
}

/** The payment with what was found of it, and without what nobody says any more. */
function afterReport(payment: Tracked, one: BreakReport, next: Break): Tracked {
  const isGone = isWithdrawal(one) && !standingKinds(next).includes(one.kind);
  return isGone ? withoutBreaks(payment, [one.kind]) : withBreaks(payment, [one.kind]);
}

function isWithdrawal(one: BreakReport): one is Withdrawal {
  return 'resolution' in one;
}

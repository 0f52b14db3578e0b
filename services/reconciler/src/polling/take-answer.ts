import type { Transaction } from '@pesewa/messaging';
import { applyReports, type BreakReport, reportsOfVerdict } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { Evidence } from '../domain/judging.ts';
import { type Tracked, withAnswer } from '../domain/tracked.ts';
import { afterVerdict, judge } from '../domain/verdict.ts';
import { railStatusObserved } from '../events.ts';
import type { WorkingStore } from '../store.ts';

/** What an answer changes: its payment, and what is reported of its breaks. */
export interface Taken {
  readonly after: Tracked;
  readonly reports: readonly BreakReport[];
}

/** Takes answers in order within one transaction, which saves their payments and breaks; `take` gives nothing to write nothing. */
export async function takeAnswers<Answer extends { readonly reference: string }>(
  {
    store,
    breaks,
  }: {
    readonly store: Pick<WorkingStore, 'load' | 'save'>;
    readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  },
  answers: readonly Answer[],
  take: (answer: Answer, payment: Tracked | undefined) => Taken | undefined,
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const loaded = await store.load(
    answers.map(({ reference }) => reference),
    session,
  );
  const payments = new Map(loaded);
  const reports: BreakReport[] = [];
  for (const answer of answers) {
    const taken = take(answer, payments.get(answer.reference));
    if (!taken) continue;
    payments.set(answer.reference, taken.after);
    reports.push(...taken.reports);
  }
  await applyReports(breaks, reports, payments, transaction);
  const changed = [...payments.values()].filter((one) => one !== loaded.get(one.reference));
  await store.save(changed, session);
}

/**
 * Judges the answer of a rail that was asked, by the schedule or for a close, and publishes the fact for the owner; gives
 * the verdict with what it changes.
 */
export function takeAnswer(
  asked: Omit<Evidence, 'source'>,
  nowMs: number,
  { emit }: Pick<Transaction, 'emit'>,
) {
  const { tracked, terms, answer, askedAtMs: atMs } = asked;
  const source = 'poll';
  const verdict = judge({ ...asked, source });
  const from = { source, atMs, causationId: tracked.causedBy } as const;
  if (verdict.fact) emit(railStatusObserved(tracked, terms, verdict.fact, from, nowMs));
  const reports = reportsOfVerdict(tracked, terms, verdict, new Date(nowMs));
  return { verdict, reports, after: afterVerdict(withAnswer(tracked, answer.kind, atMs), verdict, nowMs) };
}

import type { Transaction } from '@pesewa/messaging';
import { reportsOfVerdict } from '../breaks/reports.ts';
import type { Evidence } from '../domain/judging.ts';
import { remember } from '../domain/tracked.ts';
import { afterVerdict, judge } from '../domain/verdict.ts';
import { railStatusObserved } from '../events.ts';

/**
 * Judges the answer of a rail that was asked, by the schedule or for a close, and publishes the fact for the owner; gives
 * the verdict, what it reports of breaks, and the payment after it.
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
  const timeline = remember(tracked.timeline, { what: 'poll', detail: answer.kind, atMs });
  return { verdict, reports, after: afterVerdict({ ...tracked, timeline }, verdict, nowMs) };
}

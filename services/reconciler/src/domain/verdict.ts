import { unreachable } from '@pesewa/kernel';
import { judgeAbsence } from './absence.ts';
import { judgeAmounts, judgeLateClaims } from './amounts.ts';
import type { BreakKind } from './break-kinds.ts';
import { judgeClaims, provenDisagree } from './doubts.ts';
import type { Finding, Judged, Question, Verdict } from './question.ts';
import { failureReason } from './reasons.ts';
import { remember, type Tracked } from './tracked.ts';

/** Breaks that say nothing about how the payment itself goes on: anyone may have made them open. */
const BESIDE: readonly string[] = [
  'callback.unknown_reference',
  'callback.denied',
  'callback.amount_differs',
  'callback.fee_differs',
] satisfies readonly BreakKind[];

/** Judges what a rail says of a payment, with what callbacks have claimed (design 4.5, 6). */
export function judge(question: Question): Verdict {
  const { source, tracked } = question;
  const { denied, contradicted, settling, unsettled } = judgeClaims(question);
  const { fact, findings } = judgeAnswer(question);
  // The rail against itself: people decide, unless its callbacks alone are at odds and this is its lookup.
  const isDoubtful = contradicted !== undefined && (source !== 'poll' || !provenDisagree(question));
  const all = [...findings, ...(contradicted ? [contradicted] : [])];
  // A rail that contradicts the owner contradicts the callback that the owner went by: one discrepancy, one break.
  const told = all.some(({ kind }) => kind === 'payment.contradiction');
  if (denied && !told) all.push(denied);
  const goesOut = isDoubtful ? null : fact;
  const goesOn = tracked.status === 'open' || settling || unsettled;
  const stuck = goesOn ? stuckBy(question, goesOut, all) : undefined;
  if (stuck) all.push(stuck);
  return { fact: goesOut, findings: newFindings(tracked, all), settling, unsettled };
}

/** The first finding of each kind that the payment has not opened a break for: a kind opens one break. */
export function newFindings(
  { breaks }: Pick<Tracked, 'breaks'>,
  findings: readonly Finding[],
): readonly Finding[] {
  return findings.filter(
    ({ kind }, index) =>
      !breaks.includes(kind) && findings.findIndex((finding) => finding.kind === kind) === index,
  );
}

/** What a verdict makes of the payment: the breaks that it opens, and its timeline. */
export function afterVerdict(
  tracked: Tracked,
  { fact, findings }: Pick<Verdict, 'fact' | 'findings'>,
  nowMs: number,
): Tracked {
  let { history } = tracked;
  if (fact) history = remember(history, { what: 'fact', detail: fact.status, atMs: nowMs });
  for (const { kind } of findings) history = remember(history, { what: 'break', detail: kind, atMs: nowMs });
  return { ...tracked, breaks: [...tracked.breaks, ...findings.map(({ kind }) => kind)], history };
}

/**
 * A payment without an end after so many scheduled polls is a matter for people, and so is one that can't be asked about;
 * no counter ever fails it (design 4.4).
 */
function stuckBy(
  question: Question,
  fact: Verdict['fact'],
  findings: readonly Finding[],
): Finding | undefined {
  const { tracked, terms, answer, source, isScheduled, pollsBeforeBreak } = question;
  const kind = 'payment.stuck';
  if (answer.kind === 'unaskable') return { kind, amount: terms.amount, detail: answer.why };
  const told = [...tracked.breaks, ...findings.map((finding) => finding.kind)];
  const isTold = told.some((other) => !BESIDE.includes(other));
  if (source !== 'poll' || !isScheduled || tracked.status !== 'open' || isTold) return undefined;
  const polls = tracked.polls - tracked.hintedPolls + 1;
  const endsNow = fact !== null && fact.status !== 'notFound';
  if (endsNow || polls < pollsBeforeBreak) return undefined;
  return { kind, amount: terms.amount, detail: `no end after ${polls} polls; the rail says ${answer.kind}` };
}

function judgeAnswer(question: Question): Judged {
  const { tracked, answer, terms } = question;
  const { status } = tracked;
  switch (answer.kind) {
    case 'pending':
    case 'unknown':
    case 'unaskable':
      return { fact: null, findings: judgeLateClaims(question) };
    case 'notFound':
      return status === 'open' ? judgeAbsence(question) : { fact: null, findings: judgeLateClaims(question) };
    case 'failed':
      if (status === 'open') {
        const reason = failureReason(question, answer.reason);
        return { fact: { status: 'failed', amount: null, fee: null, reason }, findings: [] };
      }
      return { fact: null, findings: status === 'failed' ? [] : [contradiction(question)] };
    case 'completed':
    case 'reversed': {
      if (status === 'failed' || (answer.kind === 'reversed' && terms.kind === 'collection')) {
        return { fact: null, findings: [contradiction(question)] };
      }
      const judged = judgeAmounts(question, answer);
      // An end that its owner knows is no news, and an older end than the owner's is only a lookup that lags.
      const news = status === 'open' || (status === 'completed' && answer.kind === 'reversed');
      return { fact: news ? judged.fact : null, findings: judged.findings };
    }
    default:
      return unreachable(answer);
  }
}

function contradiction({ tracked, terms, answer }: Question): Finding {
  const detail = `ended as ${tracked.status}, yet the rail says ${answer.kind}`;
  return { kind: 'payment.contradiction', amount: terms.amount, detail };
}

import { unreachable } from '@pesewa/kernel';
import { judgeAmounts } from './amounts.ts';
import { claimedEnd, isProven } from './claim.ts';
import { judgeClaims, provenDisagree } from './doubts.ts';
import {
  type BreakKind,
  type Finding,
  isOver,
  type Judged,
  type Question,
  type Verdict,
} from './question.ts';
import { remember, type Tracked } from './tracked.ts';

/** Breaks that say nothing about how the payment itself goes on. */
const BESIDE: readonly BreakKind[] = ['callback.unknown_reference'];

/** Judges what a rail says of a payment, with what callbacks have claimed (design 4.5, 6). */
export function judge(question: Question): Verdict {
  const { tracked, answer, source } = question;
  const { denied, contradicted, settling } = judgeClaims(question);
  const { fact, findings } = judgeAnswer(question);
  // The rail against itself: people decide, unless its callbacks alone are at odds and this is its lookup.
  const isDoubtful = contradicted !== undefined && (source !== 'poll' || !provenDisagree(question));
  const all = [...findings, ...(contradicted ? [contradicted] : [])];
  // A rail that contradicts the owner contradicts the callback that the owner went by: one discrepancy, one break.
  const told = all.some(({ kind }) => kind === 'payment.contradiction');
  if (denied && !told) all.push(denied);
  const unheard = all.filter(
    ({ kind }, index) =>
      !tracked.breaks.includes(kind) && all.findIndex((finding) => finding.kind === kind) === index,
  );
  const goesOut = isDoubtful ? null : fact;
  if (isStuck(question, goesOut) && unheard.length === 0) {
    const detail = `no end after ${tracked.polls + 1} polls; the rail says ${answer.kind}`;
    unheard.push({ kind: 'payment.stuck', amount: question.terms.amount, detail });
  }
  return { fact: goesOut, findings: unheard, settling };
}

/** What a verdict makes of the payment: the breaks that it opens, and its timeline. */
export function afterVerdict(tracked: Tracked, { fact, findings }: Verdict, nowMs: number): Tracked {
  let { history } = tracked;
  if (fact) history = remember(history, { what: 'fact', detail: fact.status, atMs: nowMs });
  for (const { kind } of findings) history = remember(history, { what: 'break', detail: kind, atMs: nowMs });
  return { ...tracked, breaks: [...tracked.breaks, ...findings.map(({ kind }) => kind)], history };
}

/** A payment without an end after so many polls is a matter for people, once; no counter ever fails it (design 4.4). */
function isStuck({ tracked, source, pollsBeforeBreak }: Question, fact: Verdict['fact']): boolean {
  const isTold = tracked.breaks.some((kind) => !BESIDE.some((beside) => beside === kind));
  if (source !== 'poll' || tracked.status !== 'open' || isTold) return false;
  const endsNow = fact !== null && fact.status !== 'notFound';
  return !endsNow && tracked.polls + 1 >= pollsBeforeBreak;
}

function judgeAnswer(question: Question): Judged {
  const { tracked, answer, terms } = question;
  const { status } = tracked;
  switch (answer.kind) {
    case 'pending':
    case 'unknown':
      return { fact: null, findings: [] };
    case 'notFound':
      return judgeAbsence(question);
    case 'failed':
      if (status === 'open') {
        return { fact: { status: 'failed', amount: null, fee: null, reason: answer.reason }, findings: [] };
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

/**
 * A rail that doesn't know an open payment. Its owner sends it again where no attempt had a clear answer; what the rail
 * took on, or refused while an earlier attempt may yet be executed, is for people (design 4.3), and so is a collection
 * that it goes on not to know.
 */
function judgeAbsence(question: Question): Judged {
  if (question.tracked.status !== 'open') return { fact: null, findings: [] };
  const { tracked, terms } = question;
  const finding = terms.kind === 'payout' ? lostPayout(question) : lostCollection(question);
  // What it has told an end of must not be sent again, however its lookup lags.
  const isTold = tracked.callbacks.some((claim) => isProven(claim, terms) && claimedEnd(claim) !== undefined);
  const fact = isTold ? null : ({ status: 'notFound', amount: null, fee: null, reason: null } as const);
  return { fact, findings: finding ? [finding] : [] };
}

function lostPayout(question: Question): Finding | undefined {
  const { tracked, terms } = question;
  const { amount } = terms;
  if (isOver(question, tracked.acceptedAtMs)) {
    const detail = 'the rail took it on, yet its lookup does not find it';
    return { kind: 'payout.not_found', amount, detail };
  }
  if (isOver(question, tracked.refusedAtMs)) {
    const detail = 'the rail refused it after an unclear attempt, and its lookup finds neither';
    return { kind: 'payout.refused_again', amount, detail };
  }
  return undefined;
}

/** Its owner needs one grace time before it initiates the collection again, and the rail another to know it. */
const ABSENCE_GRACES = 2;

function lostCollection(question: Question): Finding | undefined {
  const { tracked, terms, notFoundGraceMs } = question;
  const patient = { ...question, notFoundGraceMs: ABSENCE_GRACES * notFoundGraceMs };
  if (!isOver(patient, tracked.notFoundSinceMs)) return undefined;
  const detail = 'the rail has not known it since it was first asked again, and still does not';
  return { kind: 'collection.not_found', amount: terms.amount, detail };
}

function contradiction({ tracked, terms, answer }: Question): Finding {
  const detail = `ended as ${tracked.status}, yet the rail says ${answer.kind}`;
  return { kind: 'payment.contradiction', amount: terms.amount, detail };
}

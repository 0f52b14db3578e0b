import { type Finding, type Violation, violationsOf } from './rules.ts';
import { type Evidence, executionsOf, isEnded, type Payment, type PaymentEvent } from './world.ts';

const ends: Readonly<Partial<Record<PaymentEvent['type'], string>>> = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  reversed: 'REVERSED',
};

const isEnd = ({ type }: PaymentEvent) => ends[type] !== undefined;

/** The life of one payment, from its first event to its end (P1, P2, P10, P11, P13, P14, R1). */
export function checkLife(evidence: Evidence): readonly Violation[] {
  return violationsOf(evidence.payment.reference, [
    ...open(evidence),
    ...endsOnce(evidence),
    ...path(evidence),
    ...completions(evidence),
    ...endedByTheRail(evidence),
    ...endsStay(evidence),
    ...timesGrow(evidence),
  ]);
}

/** Breaks that show people that a payment has no end yet. */
export const breaksOfOpen: ReadonlySet<string> = new Set([
  'payment.stuck',
  'payment.end_untaken',
  'payout.unattempted',
  'hold.unanswered',
  'collection.not_found',
  'payout.not_found',
  'payout.refused_again',
]);

const NEVER_ENDS = '0017';

/** The digits by which the rail chose what it does with a payment (contract 10.18). */
const digitsOf = ({ content }: Payment) => content.slice(-4);

/** Whether customers of a flow confirm it with a request of their own. */
const isCompleted = ({ flow }: Payment) => flow === 'otp' || flow === 'stkThenComplete';

/**
 * P1, R1: only payments that the rail never ends, or that their customer never confirmed, may stay open; and a break
 * shows them.
 */
function open(evidence: Evidence): readonly Finding[] {
  const { payment, breaks, moves } = evidence;
  if (isEnded(payment)) return [];
  const openBreaks = breaks.filter(({ isOpen }) => isOpen).map(({ kind }) => kind);
  if (openBreaks.includes('collection.amount_differs')) return [];
  const outcome = executionsOf(evidence, 'COMPLETED') > 0 ? 'COMPLETED' : 'FAILED';
  if (executionsOf(evidence, outcome) > 0)
    return [['R1 open, ended there', `is ${payment.status}, though the rail says ${outcome}`]];
  const isConfirmed = moves.some(
    ({ kind, operation, outcome: answer }) =>
      kind === 'request' && operation === 'complete' && answer === 'accepted',
  );
  const mayStay = digitsOf(payment) === NEVER_ENDS || (isCompleted(payment) && !isConfirmed);
  if (!mayStay)
    return [['P1 left open', `is ${payment.status}, and the rail would have ended it had it been asked`]];
  if (openBreaks.some((kind) => breaksOfOpen.has(kind))) return [];
  return [['P1 unreported', `is ${payment.status}, and no open break says so`]];
}

/** P1: one terminal event, and no second of its sort. */
function endsOnce({ events }: Evidence): readonly Finding[] {
  const endsByType = Map.groupBy(events.filter(isEnd), ({ type }) => type);
  return [...endsByType]
    .filter(([, all]) => all.length > 1)
    .map(([type, all]) => ['P1 ended twice', `is ${type} ${all.length} times`]);
}

/** P2: versions run from 1 upwards without repetition, and the record is the state after the last event. */
function path({ payment, events }: Evidence): readonly Finding[] {
  const [first] = events;
  if (first?.type !== 'opened' || first.version !== 1n)
    return [['P2 beginning', 'its history does not begin with its opening']];
  const found: Finding[] = [];
  const twice = events.find(({ version }, at) => events[at + 1]?.version === version);
  if (twice) found.push(['P2 version twice', `version ${twice.version} was published twice`]);
  if (events.filter(({ type }) => type === 'opened').length > 1)
    found.push(['P2 opened twice', 'is opened more than once']);
  const last = events.findLast(isEnd);
  const lastEnd = last && ends[last.type];
  if (isEnded(payment) ? lastEnd !== payment.status : lastEnd !== undefined)
    found.push([
      'P2 another end',
      `is ${payment.status}; its last event says ${lastEnd ?? 'that it is open'}`,
    ]);
  const newest = events.at(-1)?.version ?? 0n;
  if (isEnded(payment) ? newest !== payment.version : newest > payment.version)
    found.push(['P2 another version', `stands at version ${payment.version}; its last event has ${newest}`]);
  return found;
}

const OTP_TRIES_MAX = 3;

/** P10: at most one completion is accepted, few are tried, none if none is due or after the end. */
function completions({ payment, events, moves }: Evidence): readonly Finding[] {
  const asked = moves.filter(({ kind, operation }) => kind === 'request' && operation === 'complete');
  const taken = asked.filter(({ outcome }) => outcome === 'accepted').length;
  const wrong = asked.filter(({ outcome }) => outcome === 'incorrect otp').length;
  const found: Finding[] = [];
  if (taken > 1) found.push(['P10 taken twice', `the rail took ${taken} completions`]);
  if (wrong > OTP_TRIES_MAX || (payment.flow === 'otp' && payment.completionAttempts > OTP_TRIES_MAX))
    found.push(['P10 too many codes', `${Math.max(wrong, payment.completionAttempts)} codes were tried`]);
  if (!isCompleted(payment) && asked.length > 0)
    found.push(['P10 not asked for', 'was completed, which its flow does not ask for']);
  const end = events.find(isEnd);
  const late =
    end && events.some(({ type, version }) => type === 'completionRequested' && version > end.version);
  if (late) found.push(['P10 after the end', 'a completion was passed on after the end']);
  return found;
}

/** P11: only the rail's answer makes a payment fail, or the ledger's refusal before the rail was asked. */
function endedByTheRail(evidence: Evidence): readonly Finding[] {
  const { payment, moves, isRefused } = evidence;
  if (payment.status !== 'FAILED' || moves.some(({ kind }) => kind === 'execution')) return [];
  const wasTaken = moves.some(
    ({ kind, operation, outcome }) =>
      kind === 'request' && (operation === 'payout' || operation === 'payin') && outcome === 'accepted',
  );
  // A link that was certainly never requested reaches no customer: the collection is refused at once.
  if (!wasTaken && (isRefused || payment.flow === 'link')) return [];
  return [['P11 by timer', 'is FAILED, though the rail never said so']];
}

/** P13: an end stays, except for COMPLETED → REVERSED. */
function endsStay({ events }: Evidence): readonly Finding[] {
  const reached = events.filter(isEnd);
  return reached.flatMap(({ type }, at): readonly Finding[] => {
    const before = reached[at - 1]?.type;
    if (before === undefined || before === type) return [];
    return before === 'completed' && type === 'reversed'
      ? []
      : [['P13 second end', `was ${before}, then ${type}`]];
  });
}

/** P14: times never decrease along a history. */
function timesGrow({ payment, events }: Evidence): readonly Finding[] {
  const found: Finding[] = [];
  const back = events.find(({ atMs }, at) => (events[at + 1]?.atMs ?? atMs) < atMs);
  if (back) found.push(['P14 back in time', `the event after ${back.type} has an earlier time`]);
  const { acceptedAtMs, attemptedAtMs } = payment;
  if (attemptedAtMs !== null && attemptedAtMs < acceptedAtMs)
    found.push(['P14 early attempt', 'was attempted before it was accepted']);
  return found;
}

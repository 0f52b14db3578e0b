import { executionsOf, isEnded, type PaymentEvent, type Story, type Violation } from './world.ts';

const ends: Readonly<Partial<Record<PaymentEvent['type'], string>>> = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  reversed: 'REVERSED',
};

const isEnd = ({ type }: PaymentEvent) => ends[type] !== undefined;

/** The life of one payment, from its first event to its end (P1, P2, P10, P11, P13, P14, R1). */
export function checkLife(story: Story): readonly Violation[] {
  const { reference } = story.payment;
  const named = (invariant: string, whats: readonly string[]) =>
    whats.map((what) => ({ invariant, reference, what }));
  return [
    ...open(story).map(({ invariant, what }) => ({ invariant, reference, what })),
    ...named('P1', endsOnce(story)),
    ...named('P2', path(story)),
    ...named('P10', completions(story)),
    ...named('P11', endedByTheRail(story)),
    ...named('P13', endsStay(story)),
    ...named('P14', timesGrow(story)),
  ];
}

/** What tells people that a payment has no end yet. */
export const breaksOfOpen: ReadonlySet<string> = new Set([
  'payment.stuck',
  'collection.not_found',
  'payout.not_found',
  'payout.refused_again',
]);

/** P1, R1: what is open, the rail has not ended, and people know of it. */
function open(story: Story): readonly Pick<Violation, 'invariant' | 'what'>[] {
  const { payment, breaks } = story;
  if (isEnded(payment)) return [];
  const told = breaks.filter(({ isOpen }) => isOpen).map(({ kind }) => kind);
  if (told.includes('collection.amount_differs')) return [];
  const outcome = executionsOf(story, 'COMPLETED') > 0 ? 'COMPLETED' : 'FAILED';
  if (executionsOf(story, outcome) > 0)
    return [{ invariant: 'R1', what: `is ${payment.status}, though the rail says ${outcome}` }];
  if (told.some((kind) => breaksOfOpen.has(kind))) return [];
  return [{ invariant: 'P1', what: `is ${payment.status}, and no break tells people` }];
}

/** P1: one terminal event, and no second of its sort. */
function endsOnce({ events }: Story): readonly string[] {
  const told = Map.groupBy(events.filter(isEnd), ({ type }) => type);
  return [...told].filter(([, all]) => all.length > 1).map(([type, all]) => `is ${type} ${all.length} times`);
}

/** P2: from version 1 upwards, no version twice, and the record is what its last event led to. */
function path({ payment, events }: Story): readonly string[] {
  const [first] = events;
  if (first?.type !== 'opened' || first.version !== 1n)
    return ['its history does not begin with its opening'];
  const found: string[] = [];
  const twice = events.find(({ version }, at) => events[at + 1]?.version === version);
  if (twice) found.push(`version ${twice.version} was told twice`);
  if (events.filter(({ type }) => type === 'opened').length > 1) found.push('is opened more than once');
  const last = events.findLast(isEnd);
  const told = last && ends[last.type];
  if (isEnded(payment) && told !== payment.status)
    found.push(`is ${payment.status}; its last event says ${told ?? 'that it is open'}`);
  if (!isEnded(payment) && told !== undefined)
    found.push(`is ${payment.status}; its last event says ${told}`);
  const newest = events.at(-1)?.version ?? 0n;
  if (isEnded(payment) ? newest !== payment.version : newest > payment.version)
    found.push(`stands at version ${payment.version}; its last event has ${newest}`);
  return found;
}

const OTP_TRIES_MAX = 3;

/** P10: at most one completion is taken, few are tried, none where none is due or after the end. */
function completions({ payment, events, moves }: Story): readonly string[] {
  const asked = moves.filter(({ kind, operation }) => kind === 'request' && operation === 'complete');
  const taken = asked.filter(({ outcome }) => outcome === 'accepted').length;
  const wrong = asked.filter(({ outcome }) => outcome === 'incorrect otp').length;
  const found: string[] = [];
  if (taken > 1) found.push(`the rail took ${taken} completions`);
  if (wrong > OTP_TRIES_MAX || (payment.flow === 'otp' && payment.completionAttempts > OTP_TRIES_MAX))
    found.push(`${Math.max(wrong, payment.completionAttempts)} codes were tried`);
  const completes = payment.flow === 'otp' || payment.flow === 'stkThenComplete';
  if (!completes && asked.length > 0) found.push('was completed, which its flow does not ask for');
  const end = events.find(isEnd);
  const late =
    end && events.some(({ type, version }) => type === 'completionRequested' && version > end.version);
  if (late) found.push('a completion was passed on after the end');
  return found;
}

/** P11: only the rail's word fails a payment, or the ledger's before the rail was asked. */
function endedByTheRail(story: Story): readonly string[] {
  const { payment, moves, isRefused } = story;
  if (payment.status !== 'FAILED' || moves.some(({ kind }) => kind === 'execution')) return [];
  const wasTaken = moves.some(
    ({ kind, operation, outcome }) =>
      kind === 'request' && (operation === 'payout' || operation === 'payin') && outcome === 'accepted',
  );
  // A link that certainly nobody was asked for reaches nobody: it is refused at once.
  if (!wasTaken && (isRefused || payment.flow === 'link')) return [];
  return ['is FAILED, though the rail never said so'];
}

/** P13: an end stays, but for COMPLETED → REVERSED. */
function endsStay({ events }: Story): readonly string[] {
  return events.slice(events.findIndex(isEnd) + 1).flatMap((event, at, later) => {
    if (!events.some(isEnd) || !isEnd(event)) return [];
    const before = at === 0 ? events.find(isEnd) : later[at - 1];
    if (before === undefined || before.type === event.type) return [];
    if (before.type === 'completed' && event.type === 'reversed') return [];
    return [`was ${before.type}, then ${event.type}`];
  });
}

/** P14: times never go back along a history. */
function timesGrow({ payment, events }: Story): readonly string[] {
  const back = events.find(({ atMs }, at) => (events[at + 1]?.atMs ?? atMs) < atMs);
  const found = back ? [`what follows ${back.type} is told of an earlier time`] : [];
  const { acceptedAtMs, attemptedAtMs } = payment;
  if (attemptedAtMs !== null && attemptedAtMs < acceptedAtMs)
    found.push('was attempted before it was accepted');
  return found;
}

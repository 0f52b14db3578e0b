import type { CallbackView, EntryView, PaymentView, TimelineView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { describeMovement, inWords, statedAccount } from './labels.ts';
import type { BreakHistory, DeliveryLog, TimelineSources } from './timeline-sources.ts';

/** One line of a payment's timeline, from one service. */
export interface TimelineLine {
  /** By the service's clock; ISO 8601. */
  readonly at: string;
  readonly service: string;
  readonly what: string;
  readonly detail: string;
  /** Where something went wrong, or somebody said so. */
  readonly isFailure?: true;
  /** What it is about that has a record of its own: a break or a webhook by its id, or an account. */
  readonly about?: { readonly kind: 'account' | 'break' | 'webhook'; readonly id: string };
}

/**
 * The order of lines with the same time: the order in which a payment passes through the services. Lines of the same
 * service and kind keep the service's order.
 */
const places = [
  'accepted',
  'hold',
  'held',
  'attempt',
  'answer',
  'callback',
  'reconciler',
  'end',
  'entry',
  'webhook',
  'webhook attempt',
] as const;

interface PlacedLine extends TimelineLine {
  readonly place: (typeof places)[number];
}

/** What is wrong in the words and codes of steps, answers and events. */
const WRONG = /fail|revers|refused|unclear|no clear answer|not ?found|not ?sent|unknown|lapsed|forgotten/i;

const failureIf = (isFailure: boolean) => (isFailure ? ({ isFailure } as const) : {});

const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'reversed']);

/**
 * Merges everything known about a payment into one list, the oldest first; lines with the same time are in the order of
 * the flow.
 */
export function mergeTimeline(sources: Omit<TimelineSources, 'missing' | 'cut'>): readonly TimelineLine[] {
  const { payment, callbacks, reconciliation, breaks, entries, deliveries } = sources;
  const lines: readonly PlacedLine[] = [
    ...(payment === null ? [] : linesOfPayment(payment)),
    ...callbacks.map((callback) => lineOfCallback(callback, payment?.currency ?? '')),
    ...(reconciliation?.items ?? []).flatMap(linesOfReconciler),
    ...breaks.flatMap(linesOfBreak),
    ...entries.map(lineOfEntry),
    ...deliveries.flatMap(linesOfDelivery),
  ];
  return lines.toSorted(byTimeAndPlace).map(({ place: _place, ...line }) => line);
}

function byTimeAndPlace(one: PlacedLine, other: PlacedLine): number {
  const later = Date.parse(one.at) - Date.parse(other.at);
  return later === 0 ? places.indexOf(one.place) - places.indexOf(other.place) : later;
}

/** The request, the attempts at the rail, and their outcomes. */
function linesOfPayment(payment: PaymentView): readonly PlacedLine[] {
  const service = payment.kind === 'payout' ? 'payout-gateway' : 'collection-gateway';
  const { amount, currency, fee, merchantId, merchantReference, rail } = payment;
  const accepted: PlacedLine = {
    at: payment.acceptedAt,
    service,
    what: 'request accepted',
    detail: `${displayAmount(amount, currency)}, fee ${displayAmount(fee, currency)}, of ${merchantId}, its reference ${merchantReference}`,
    place: 'accepted',
  };
  // A payment keeps only the reason of its last end: a reversal's is not that of the completion before it.
  const lastEnd = payment.steps.findLastIndex(({ what }) => ENDS.has(what));
  const steps = payment.steps.flatMap(({ at, what, attempt, notKept }, index): readonly PlacedLine[] => {
    const numbered = attempt === null ? [] : [`attempt ${attempt}`];
    const reason = index === lastEnd && payment.reason !== null ? [payment.reason] : [];
    const detail = [...numbered, ...reason].join(': ');
    const line = { at, service, what, detail, place: placeOfStep(what) };
    return withGap({ ...line, ...failureIf(WRONG.test(what)) }, notKept);
  });
  return [accepted, ...attemptsOf(payment).map(lineOfAttempt), ...steps];

  function lineOfAttempt({ number, claimedAt, isAnswered }: Attempt): PlacedLine {
    const silence = isAnswered ? '' : ', no answer recorded';
    return {
      at: claimedAt,
      service,
      what: `attempt ${number}`,
      detail: `rail ${rail} is asked${silence}`,
      place: 'attempt',
    };
  }
}

/** A line, preceded by one that counts the dropped items before it. */
function withGap(line: PlacedLine, notKept: number): readonly PlacedLine[] {
  if (notKept === 0) return [line];
  const { at, service, place } = line;
  const steps = notKept === 1 ? 'step' : 'steps';
  return [{ at, service, what: 'gap', detail: `… ${notKept} ${steps} not kept`, place }, line];
}

interface Attempt {
  readonly number: number;
  readonly claimedAt: string;
  readonly isAnswered: boolean;
}

/** Every attempt that a step mentions, and the newest, which may have no step yet. */
function attemptsOf({ steps, attempts, attemptedAt }: PaymentView): readonly Attempt[] {
  const known = new Map<number, Attempt>();
  for (const { attempt: number, claimedAt } of steps) {
    if (number !== null && claimedAt !== null) known.set(number, { number, claimedAt, isAnswered: true });
  }
  if (attemptedAt !== null && !known.has(attempts))
    known.set(attempts, { number: attempts, claimedAt: attemptedAt, isAnswered: false });
  return [...known.values()];
}

function placeOfStep(what: string): PlacedLine['place'] {
  if (what === 'held') return 'held';
  return ENDS.has(what) ? 'end' : 'answer';
}

function lineOfCallback(callback: CallbackView, currency: string): PlacedLine {
  const { claimedStatus, claimedAmount, claimedCurrency, verdict, state, deliveries, failure } = callback;
  const amount =
    claimedAmount === null ? '' : ` ${displayAmount(claimedAmount, claimedCurrency ?? currency)}`;
  const claim = claimedStatus === null ? 'not read' : `claims ${claimedStatus}${amount}`;
  const proof = verdict.proven ? 'proven' : `signature ${inWords(verdict.signature)}`;
  const times = deliveries > 1 ? `, came ${deliveries} times` : '';
  const why = failure === null ? '' : `: ${failure}`;
  return {
    at: callback.receivedAt,
    service: 'webhook-ingress',
    what: 'callback',
    detail: `${claim}, ${proof}, ${inWords(state)}${times}${why}`,
    place: 'callback',
    ...failureIf(state === 'failed' || callback.conflicts > 0 || WRONG.test(claimedStatus ?? '')),
  };
}

function linesOfReconciler(item: TimelineView['items'][number]): readonly PlacedLine[] {
  const { at, what, detail, times, lastAt, notKept } = item;
  const repeated = times > 1 ? ` (${times} times, last ${lastAt})` : '';
  const line: PlacedLine = {
    at,
    service: 'reconciler',
    what,
    detail: `${inWords(detail)}${repeated}`,
    place: 'reconciler',
    ...failureIf(WRONG.test(detail)),
  };
  return withGap(line, notKept);
}

/** What a break went through, and what was decided of it. */
function linesOfBreak({ id, kind, history }: BreakHistory): readonly PlacedLine[] {
  return history.map(({ at, what, by, text }) => ({
    at,
    service: 'reconciler',
    what: text === null ? `break ${what}` : what,
    detail: `${text ?? inWords(kind)}${by === null ? '' : ` by ${by}`}`,
    place: 'reconciler',
    about: { kind: 'break', id },
    ...failureIf(/^(opened|found again)/.test(what)),
  }));
}

function lineOfEntry(entry: EntryView): PlacedLine {
  const { at, kind } = entry;
  const place = kind === 'hold' ? 'hold' : 'entry';
  const about = { kind: 'account', id: statedAccount(entry.debit) } as const;
  return { at, service: 'ledger', what: `entry ${kind}`, detail: describeMovement(entry), place, about };
}

function linesOfDelivery({ kind, id, state, reason, createdAt, dueAt, attempts }: DeliveryLog) {
  const service = 'webhook-dispatcher';
  const next = state === 'pending' && dueAt !== null ? `, due ${dueAt}` : '';
  const why = reason === null ? '' : `: ${reason}`;
  const created: PlacedLine = {
    at: createdAt,
    service,
    what: `webhook ${kind}`,
    detail: `${id}, now ${state}${next}${why}`,
    place: 'webhook',
    about: { kind: 'webhook', id },
    ...failureIf(state === 'exhausted' || state === 'discarded'),
  };
  const tried = attempts.map(
    ({ at, status, error, durationMs }, index): PlacedLine => ({
      at,
      service,
      what: `webhook attempt ${index + 1}`,
      detail: `${inWords(kind)}: ${status ?? error ?? 'no answer'} in ${durationMs} ms`,
      place: 'webhook attempt',
      about: { kind: 'webhook', id },
      ...failureIf(status === undefined || status >= 300),
    }),
  );
  return [created, ...tried];
}

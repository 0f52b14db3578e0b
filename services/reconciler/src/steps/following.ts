import type { PaymentKind } from '@pesewa/contracts';
import { judgeBooks } from '../domain/books.ts';
import type { BreakKind } from '../domain/break-kinds.ts';
import { gapKinds, type OwnerRecord } from '../domain/coverage.ts';
import type { Finding } from '../domain/judging.ts';
import { isFoundAgain } from '../domain/observing.ts';
import type { Tracked } from '../domain/tracked.ts';

/**
 * A step of ours that is followed until it is done: the payment's opening and its end reach us, its gateway's record is
 * no older than its events, its hold is answered, its merchant is owed a webhook for its end, the ledger's entries match
 * it, and what an entry or a proven callback names is a payment.
 */
export type Step = keyof typeof stepKinds | 'entry';

/** The breaks of steps, but for entries. */
export const stepKinds = {
  ...gapKinds,
  hold: 'hold.unanswered',
  delivery: 'webhook.missing',
} as const satisfies Readonly<Record<string, BreakKind>>;

/** A step of a payment. */
export interface NamedStep {
  readonly reference: string;
  readonly kind: PaymentKind;
  readonly step: Step;
}

/** A payment that has been at a step for too long. */
export interface Overdue extends NamedStep {
  /** Its gateway's record, if that was read. */
  readonly record?: OwnerRecord | undefined;
}

/** An overdue step that is followed. */
export interface FollowedStep extends NamedStep {
  readonly since: Date;
  /** How often its owner was asked to publish again. */
  readonly requests: number;
  /** When it is checked again. */
  readonly dueAt: Date;
  /** Whether people were shown it. */
  readonly isReported: boolean;
}

/** A step about which the owner of a payment is asked: its event can be published again. */
export type AskedStep = Exclude<Step, 'record'>;

/** Whether a step is an {@link AskedStep}. */
export function isAsked(step: Step): step is AskedStep {
  return step !== 'record';
}

const DOUBLINGS_MAX = 6;
/** How long after the time in a record it may be committed and become visible. */
const COMMIT_MS = 15_000;

/** After how long the report of an end counts as late: a check at the end's own time need not wait for it. */
export function lateAfterMs(limitMs: number): number {
  return limitMs / 2;
}

/**
 * Where a check of payments begins, after one that reached this time. Each check runs one limit later, so events that
 * were in time are visible, unless the limit is too short for that; so each payment is checked once.
 */
export function lookFromMs(seenUntilMs: number, limitMs: number): number {
  return seenUntilMs - Math.max(0, COMMIT_MS - (limitMs - lateAfterMs(limitMs)));
}

/**
 * A newly found overdue step: its owner is asked for the first time. An end and a record may have changed at this
 * moment, so they are read a second time before anybody is asked.
 *
 * @param limitMs how long an answer to a request may take
 */
export function found({ reference, kind, step }: NamedStep, limitMs: number, now: Date): FollowedStep {
  const dueAt = new Date(now.getTime() + limitMs);
  const requests = step === 'end' || !isAsked(step) ? 0 : 1;
  return { reference, kind, step, since: now, requests, dueAt, isReported: false };
}

/**
 * A step that is still unfinished when it is checked again. Requests continue with pauses that double up to a bound,
 * because its cause may be repaired.
 *
 * @param requestsMax after how many requests without effect people are shown it
 */
export function follow(
  step: FollowedStep,
  { limitMs, requestsMax }: { readonly limitMs: number; readonly requestsMax: number },
  now: Date,
): FollowedStep {
  const isReported = step.isReported || !isAsked(step.step) || step.requests >= requestsMax;
  const dueAt = new Date(now.getTime() + limitMs * 2 ** Math.min(step.requests, DOUBLINGS_MAX));
  return { ...step, requests: step.requests + 1, dueAt, isReported };
}

/** What people are shown of an overdue step; undefined if it is done by now, as far as the payment shows it. */
export function findingOf(
  { step, requests }: Pick<FollowedStep, 'step' | 'requests'>,
  tracked: Tracked | undefined,
): Finding | undefined {
  if (step === 'entry') return tracked && judgeBooks(tracked);
  const amount = tracked?.terms?.amount ?? null;
  const status = tracked?.status ?? 'open';
  const there = status === 'open' ? 'no record of it' : 'it as open';
  const detail =
    step === 'record'
      ? `the payment is ${status} here, and its gateway has ${there}`
      : `${texts[step]}; published again ${requests} times without effect`;
  return { kind: stepKinds[step], amount, detail };
}

/**
 * Whether nobody needs a reported entry any more: people have resolved its break, or resolve it for good. Every other step
 * is followed until it is done, because its payment waits for it whatever people say of the break.
 */
export function isResolved(step: FollowedStep, tracked: Tracked | undefined): boolean {
  if (step.step !== 'entry' || !step.isReported) return false;
  const kind = findingOf(step, tracked)?.kind;
  return kind === undefined || !isFoundAgain(kind) || tracked?.breaks.includes(kind) === false;
}

/** Where the break of a step is shown; of callbacks only a proven one says the rail. */
export function placeOf(tracked: Tracked | undefined): {
  readonly rail: string | undefined;
  readonly currency: string | null;
} {
  const proof = tracked?.callbacks.find(({ proven }) => proven);
  return tracked?.terms ?? tracked?.booked ?? { rail: proof?.rail, currency: null };
}

const texts = {
  opening: 'the payment is open at its gateway, and is not known here',
  end: 'the payment has ended at its gateway, and is open here',
  hold: 'the payout is accepted, and the ledger has not answered whether its money is held',
  delivery: 'the payment has ended, and no webhook is owed for it',
} as const satisfies Record<Exclude<AskedStep, 'entry'>, string>;

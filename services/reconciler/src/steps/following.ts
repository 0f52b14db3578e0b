import type { PaymentKind } from '@pesewa/contracts';
import { judgeBooks } from '../domain/books.ts';
import type { BreakKind } from '../domain/break-kinds.ts';
import type { Finding } from '../domain/question.ts';
import type { Tracked } from '../domain/tracked.ts';

/**
 * A step of ours that is followed until it is done: the payment's opening reaches us, its hold is answered,
 * its merchant is owed a webhook for its end, the ledger's entries match it.
 */
export type Step = keyof typeof stepKinds | 'entry';

/** The breaks of steps, but for entries; a missing opening is a payment that is missing in the working set. */
export const stepKinds = {
  opening: 'coverage.missing',
  hold: 'hold.unanswered',
  delivery: 'webhook.missing',
} as const satisfies Readonly<Record<string, BreakKind>>;

/** A payment that has been at a step for too long. */
export interface Overdue {
  readonly reference: string;
  readonly kind: PaymentKind;
  readonly step: Step;
}

/** An overdue step that is followed. */
export interface FollowedStep extends Overdue {
  readonly since: Date;
  /** How often its owner was asked to publish again. */
  readonly requests: number;
  /** When it is checked again. */
  readonly dueAt: Date;
  /** Whether people were shown it. */
  readonly isReported: boolean;
}

/** The limits for following steps. */
export interface StepLimits {
  /** The longest time that a step takes, and that an answer to a request takes; milliseconds. */
  readonly limitMs: number;
  /** After how many requests without effect a break is opened. */
  readonly requestsMax: number;
}

/** What happens to an overdue step when it is checked: another request, a break, or its end. */
export type FollowUp =
  | { readonly kind: 'done'; readonly wasReported: boolean }
  | { readonly kind: 'goesOn'; readonly step: FollowedStep; readonly isNews: boolean };

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
export function lookFromMs(seenUntilMs: number | undefined, limitMs: number): number {
  if (seenUntilMs === undefined) return 0;
  return seenUntilMs - Math.max(0, COMMIT_MS - (limitMs - lateAfterMs(limitMs)));
}

/** A newly found overdue step: its owner is asked for the first time. */
export function found(overdue: Overdue, { limitMs }: StepLimits, now: Date): FollowedStep {
  const dueAt = new Date(now.getTime() + limitMs);
  return { ...overdue, since: now, requests: 1, dueAt, isReported: false };
}

/**
 * Checks a step again. Requests continue for as long as the step is unfinished, with pauses that double, because its
 * cause may be repaired.
 */
export function follow(step: FollowedStep, stands: boolean, limits: StepLimits, now: Date): FollowUp {
  if (!stands) return { kind: 'done', wasReported: step.isReported };
  const isReported = step.isReported || step.requests >= limits.requestsMax;
  const pauseMs = limits.limitMs * 2 ** Math.min(step.requests, DOUBLINGS_MAX);
  const dueAt = new Date(now.getTime() + pauseMs);
  const next = { ...step, requests: step.requests + 1, dueAt, isReported };
  return { kind: 'goesOn', step: next, isNews: isReported && !step.isReported };
}

/** What people are shown of an overdue step; undefined if the payment's entries match by now. */
export function findingOf(
  { step, requests }: Pick<FollowedStep, 'step' | 'requests'>,
  tracked: Tracked | undefined,
): Finding | undefined {
  if (step === 'entry') return tracked && judgeBooks(tracked);
  const detail = `${texts[step]}; published again ${requests} times without effect`;
  return { kind: stepKinds[step], amount: tracked?.terms?.amount ?? null, detail };
}

const texts = {
  opening: 'the payment is open at its gateway, and is not known here',
  hold: 'the payout is accepted, and the ledger has not answered whether its money is held',
  delivery: 'the payment has ended, and no webhook is owed for it',
} as const satisfies Record<keyof typeof stepKinds, string>;

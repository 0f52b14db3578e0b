import type { PaymentKind } from '@pesewa/contracts';
import type { BreakKind } from './break-kinds.ts';

/**
 * A step of ours that is followed until it is done: the payment's opening reaches us, its hold is answered,
 * its merchant is owed a webhook for its end, the ledger's entries match it.
 */
export type Step = ReportedStep | 'entry';

/** A step that people see by a break of its own; for entries the books report it. */
export type ReportedStep = keyof typeof stepKinds;

/** The breaks of steps; a missing opening is a payment that is missing in the working set. */
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
  readonly sinceMs: number;
  /** How often its owner was asked to publish again. */
  readonly requests: number;
  /** When it is checked again. */
  readonly dueAtMs: number;
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
export function found(overdue: Overdue, { limitMs }: StepLimits, nowMs: number): FollowedStep {
  return { ...overdue, sinceMs: nowMs, requests: 1, dueAtMs: nowMs + limitMs, isReported: false };
}

/** A step that people have been shown, with further requests after so many earlier ones. */
export function keptUp(overdue: Overdue, requests: number, limits: StepLimits, nowMs: number): FollowedStep {
  return {
    ...overdue,
    sinceMs: nowMs,
    requests,
    dueAtMs: nowMs + pauseAfter(requests, limits),
    isReported: true,
  };
}

/** Whether people see a step by a break of its own. */
export function hasBreak(step: FollowedStep): step is FollowedStep & { readonly step: ReportedStep } {
  return step.step in stepKinds;
}

/**
 * Checks a step again. Requests continue for as long as the step is unfinished, with pauses that double, because its
 * cause may be repaired.
 */
export function follow(step: FollowedStep, stands: boolean, limits: StepLimits, nowMs: number): FollowUp {
  if (!stands) return { kind: 'done', wasReported: step.isReported };
  const isReported = step.isReported || step.requests >= limits.requestsMax;
  const dueAtMs = nowMs + pauseAfter(step.requests, limits);
  const next = { ...step, requests: step.requests + 1, dueAtMs, isReported };
  return { kind: 'goesOn', step: next, isNews: isReported && !step.isReported };
}

function pauseAfter(requests: number, { limitMs }: StepLimits): number {
  return limitMs * 2 ** Math.min(requests, DOUBLINGS_MAX);
}

/** The text of an overdue step's break. */
export function stepText({
  step,
  requests,
}: {
  readonly step: ReportedStep;
  readonly requests: number;
}): string {
  const asked = `published again ${requests} times without effect`;
  return `${texts[step]}; ${asked}`;
}

const texts = {
  opening: 'the payment is open at its gateway, and is not known here',
  hold: 'the payout is accepted, and the ledger has not answered whether its money is held',
  delivery: 'the payment has ended, and no webhook is owed for it',
} as const satisfies Record<ReportedStep, string>;

import type { BreakKind } from './break-kinds.ts';
import type { PaymentKind } from './claim.ts';

/**
 * A step of ours that is followed until it is done (ADR 42): that we know the payment, that its hold is answered, that its
 * merchant is owed a webhook for its end, that the ledger's entries bear it out.
 */
export type Step = ToldStep | 'entry';

/** A step that people are told of by a break of its own; of entries the books tell. */
export type ToldStep = keyof typeof stepKinds;

/** The breaks of steps; an opening that stays away is a payment missing from the working set. */
export const stepKinds = {
  opening: 'coverage.missing',
  hold: 'hold.unanswered',
  delivery: 'webhook.missing',
} as const satisfies Readonly<Record<string, BreakKind>>;

/** A payment that stands at a step longer than it can. */
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
  /** When it is looked at again. */
  readonly dueAtMs: number;
  /** Whether people have been told. */
  readonly isTold: boolean;
}

/** How steps are followed. */
export interface StepLimits {
  /** The longest time that a step takes, and that an answer to a request takes; milliseconds. */
  readonly limitMs: number;
  /** So many requests without effect make a break. */
  readonly requestsMax: number;
}

/** What becomes of an overdue step when it is looked at: it is asked for again, told to people, or done. */
export type FollowUp =
  | { readonly kind: 'done'; readonly wasTold: boolean }
  | { readonly kind: 'goesOn'; readonly step: FollowedStep; readonly isNews: boolean };

const DOUBLINGS_MAX = 6;
/** So long after the time that it names a record may be committed, and be seen. */
const COMMIT_MS = 15_000;

/** An end that is told later than this is told late: whoever looks at its time need not wait for it. */
export function lateAfterMs(limitMs: number): number {
  return limitMs / 2;
}

/**
 * Where a look at payments begins, after the one that ended then. It came a limit later, so what was told in time was there
 * to be seen, unless the limit is too short for that: so each payment is looked at once.
 */
export function lookFromMs(seenUntilMs: number | undefined, limitMs: number): number {
  if (seenUntilMs === undefined) return 0;
  return seenUntilMs - Math.max(0, COMMIT_MS - (limitMs - lateAfterMs(limitMs)));
}

/** A step that is found overdue: its owner is asked for the first time. */
export function found(overdue: Overdue, { limitMs }: StepLimits, nowMs: number): FollowedStep {
  return { ...overdue, sinceMs: nowMs, requests: 1, dueAtMs: nowMs + limitMs, isTold: false };
}

/** A step that people have been told of, and that goes on being asked for after so many requests. */
export function keptUp(overdue: Overdue, requests: number, limits: StepLimits, nowMs: number): FollowedStep {
  return {
    ...overdue,
    sinceMs: nowMs,
    requests,
    dueAtMs: nowMs + pauseAfter(requests, limits),
    isTold: true,
  };
}

/** Whether people are told of a step by a break of its own. */
export function hasBreak(step: FollowedStep): step is FollowedStep & { readonly step: ToldStep } {
  return step.step in stepKinds;
}

/** Looks at a step again. It is asked for as long as it stands, with pauses that double: whatever keeps it may be repaired. */
export function follow(step: FollowedStep, stands: boolean, limits: StepLimits, nowMs: number): FollowUp {
  if (!stands) return { kind: 'done', wasTold: step.isTold };
  const isTold = step.isTold || step.requests >= limits.requestsMax;
  const dueAtMs = nowMs + pauseAfter(step.requests, limits);
  const next = { ...step, requests: step.requests + 1, dueAtMs, isTold };
  return { kind: 'goesOn', step: next, isNews: isTold && !step.isTold };
}

function pauseAfter(requests: number, { limitMs }: StepLimits): number {
  return limitMs * 2 ** Math.min(requests, DOUBLINGS_MAX);
}

/** What people read of an overdue step. */
export function stepText({ step, requests }: { readonly step: ToldStep; readonly requests: number }): string {
  const asked = `published again ${requests} times without effect`;
  return `${texts[step]}; ${asked}`;
}

const texts = {
  opening: 'the payment is open at its gateway, and is not known here',
  hold: 'the payout is accepted, and the ledger has not answered whether its money is held',
  delivery: 'the payment has ended, and no webhook is owed for it',
} as const satisfies Record<ToldStep, string>;

import type { PayoutStatus } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';

/** How a payout ended by the decision of two operators, because its rail never reports it (ADR 23). */
export interface DecidedOutcome {
  readonly outcome: 'failed' | 'completed';
  /** The rail's own fee in minor units, by its schedule. */
  readonly railFee: bigint;
  /** When it was proposed: the operators' knowledge is from before then. */
  readonly knownAtMs: number;
  /** When it was approved. */
  readonly decidedAtMs: number;
}

/**
 * A decision made while an attempt might still pay: it ends the payout once the attempt is over, as long as it stands.
 */
export interface RecordedDecision extends DecidedOutcome {
  readonly isPending: boolean;
}

/** What a decision of people leads to. */
export type DecidedDomainEvent =
  /** It waits for an attempt that may still pay. */
  | { readonly kind: 'decided'; readonly decided: DecidedOutcome; readonly dueAtMs: number }
  /** An attempt came after what people knew, and its outcome is unknown. */
  | { readonly kind: 'lapsed' }
  | {
      readonly kind: 'completed';
      readonly railFee: bigint;
      readonly reason: string;
      readonly byOperators: true;
    }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly byOperators: true;
      readonly cancelledBy?: never;
    };

type DecidedRefusal = 'payout.already_there' | 'payout.not_attempted' | 'payout.contradiction';

/** The part of a payout that a decision depends on. */
interface DecisionContext {
  readonly status: PayoutStatus;
  readonly step: string;
  readonly attempts: number;
  readonly attemptedAtMs: number | null;
  readonly dueAtMs: number | null;
  readonly decided: RecordedDecision | null;
}

/**
 * Ends a payout by the decision of two operators: at once, or after an attempt that may still pay is over.
 *
 * The decision that it failed says nothing about an attempt that was not over at the time of the operators' knowledge:
 * if the rail has acknowledged it, it will pay.
 */
export function decideByOperators(
  decided: DecidedOutcome,
  resubmitGraceMs: number,
  state: DecisionContext,
): Result<readonly DecidedDomainEvent[], DecidedRefusal> {
  const { outcome, decidedAtMs, knownAtMs } = decided;
  if (state.status !== 'INITIALIZED')
    return refuse(outcome.toUpperCase() === state.status ? 'payout.already_there' : 'payout.contradiction');
  if (state.decided !== null && decidedAtMs <= state.decided.decidedAtMs)
    return refuse('payout.already_there');
  const { attemptedAtMs, attempts, step } = state;
  if (outcome === 'completed' && (attemptedAtMs === null || (attempts === 1 && attemptedAtMs > knownAtMs)))
    return refuse('payout.not_attempted');
  if (attemptedAtMs === null) return accept([decidedEndOf(decided)]);
  const overAtMs = attemptedAtMs + resubmitGraceMs;
  if (step === 'submitting')
    return accept([{ kind: 'decided', decided, dueAtMs: Math.max(state.dueAtMs ?? 0, overAtMs) }]);
  // A payout that is due again was not found at the rail, or never left.
  if (outcome === 'completed' || step === 'held' || overAtMs <= knownAtMs)
    return accept([decidedEndOf(decided)]);
  if (step === 'submitted') return refuse('payout.contradiction');
  return accept([{ kind: 'decided', decided, dueAtMs: overAtMs }]);
}

/** Ends a payout whose decision has waited for an attempt, once the attempt must be over without an answer. */
export function applyDecision(
  { decided, attemptedAtMs }: DecisionContext,
  resubmitGraceMs: number,
): Result<readonly DecidedDomainEvent[], 'payout.already_there'> {
  if (!decided?.isPending) return refuse('payout.already_there');
  const isKnown = attemptedAtMs === null || attemptedAtMs + resubmitGraceMs <= decided.knownAtMs;
  return accept([decided.outcome === 'completed' || isKnown ? decidedEndOf(decided) : { kind: 'lapsed' }]);
}

/** The end that people decided; the merchant only learns the end itself. */
export function decidedEndOf({ outcome, railFee }: DecidedOutcome): DecidedDomainEvent {
  return outcome === 'completed'
    ? { kind: 'completed', railFee, reason: 'Successful', byOperators: true }
    : { kind: 'failed', reason: 'Failed', byOperators: true };
}

/**
 * Whether an attempt's answer confirms the decision of people and ends the wait. An unclear attempt may still pay. The
 * rail's answer that it has paid, or is about to although people decided otherwise, is newer than the decision.
 */
export function confirmsDecision(kind: string, { outcome }: DecidedOutcome): boolean {
  return kind !== 'completed' && (outcome === 'completed' || (kind !== 'acknowledged' && kind !== 'unknown'));
}

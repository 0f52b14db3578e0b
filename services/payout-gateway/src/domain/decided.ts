import type { PayoutStatus } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';

/** How a payout ended by the word of two operators, where its rail never tells (ADR 34). */
export interface DecidedOutcome {
  readonly outcome: 'failed' | 'completed';
  /** The rail's own fee in minor units, by its schedule. */
  readonly railFee: bigint;
  /** When it was proposed: what people have made sure of is no newer. */
  readonly knownAtMs: number;
  /** When it was approved. */
  readonly decidedAtMs: number;
}

/** A decision that came while an attempt might still pay: it ends the payout once that is over, as long as it stands. */
export interface DecidedEnd extends DecidedOutcome {
  readonly stands: boolean;
}

/** What comes of a decision of people. */
export type DecidedHappening =
  /** It waits for an attempt that may still pay. */
  | { readonly kind: 'decided'; readonly decided: DecidedOutcome; readonly dueAtMs: number }
  /** An attempt came after what people knew, and nobody knows how it ended. */
  | { readonly kind: 'lapsed' }
  | { readonly kind: 'completed'; readonly railFee: bigint; readonly reason: string; readonly byPeople: true }
  | { readonly kind: 'failed'; readonly reason: string; readonly byPeople: true };

type DecidedRefusal = 'payout.already_there' | 'payout.not_attempted' | 'payout.contradiction';

/** What a decision goes by. */
interface Undecided {
  readonly status: PayoutStatus;
  readonly step: string;
  readonly attempts: number;
  readonly attemptedAtMs: number | null;
  readonly dueAtMs: number | null;
  readonly decided: DecidedEnd | null;
}

/**
 * Ends a payout by the word of two operators (ADR 34): at once, or once an attempt is over that may still pay.
 *
 * That it failed is no word on an attempt that was not over by what people knew: if the rail has taken it on, it will pay.
 */
export function decideByPeople(
  decided: DecidedOutcome,
  resubmitGraceMs: number,
  state: Undecided,
): Result<readonly DecidedHappening[], DecidedRefusal> {
  const { outcome, decidedAtMs, knownAtMs } = decided;
  if (state.status !== 'INITIALIZED')
    return refuse(outcome.toUpperCase() === state.status ? 'payout.already_there' : 'payout.contradiction');
  if (state.decided !== null && decidedAtMs <= state.decided.decidedAtMs)
    return refuse('payout.already_there');
  const { attemptedAtMs, attempts, step } = state;
  if (outcome === 'completed' && (attemptedAtMs === null || (attempts === 1 && attemptedAtMs > knownAtMs)))
    return refuse('payout.not_attempted');
  if (attemptedAtMs === null) return accept([endOf(decided)]);
  const overAtMs = attemptedAtMs + resubmitGraceMs;
  if (step === 'submitting')
    return accept([{ kind: 'decided', decided, dueAtMs: Math.max(state.dueAtMs ?? 0, overAtMs) }]);
  // What is to be sent again was not found at the rail, or never left.
  if (outcome === 'completed' || step === 'held' || overAtMs <= knownAtMs) return accept([endOf(decided)]);
  if (step === 'submitted') return refuse('payout.contradiction');
  return accept([{ kind: 'decided', decided, dueAtMs: overAtMs }]);
}

/** Ends a payout once the attempt must be over that its decision has waited for, and of which nothing was heard. */
export function applyDecided(
  { decided, attemptedAtMs }: Undecided,
  resubmitGraceMs: number,
): Result<readonly DecidedHappening[], 'payout.already_there'> {
  if (!decided?.stands) return refuse('payout.already_there');
  const isKnown = attemptedAtMs === null || attemptedAtMs + resubmitGraceMs <= decided.knownAtMs;
  return accept([decided.outcome === 'completed' || isKnown ? endOf(decided) : { kind: 'lapsed' }]);
}

/** The end that people decided; the merchant hears no more of it than that it is one. */
export function endOf({ outcome, railFee }: DecidedOutcome): DecidedHappening {
  return outcome === 'completed'
    ? { kind: 'completed', railFee, reason: 'Successful', byPeople: true }
    : { kind: 'failed', reason: 'Failed', byPeople: true };
}

/**
 * Whether the answer to an attempt leaves the word of people standing, and ends what it waits for: an unclear one may
 * still pay, and what the rail says of having paid, or of being about to where they say that it won't, is newer.
 */
export function isOver(kind: string, { outcome }: DecidedOutcome): boolean {
  return kind !== 'completed' && (outcome === 'completed' || (kind !== 'accepted' && kind !== 'unknown'));
}

import type { ArrivedTime } from './arrived.ts';
import type { Observation } from './break.ts';
import type { BreakKind, Field } from './break-kinds.ts';
import type { EndStatus } from './claim.ts';
import type { Terms, Tracked } from './tracked.ts';

/** A rail's answer about a payment; amounts in minor units, null if not reported. */
export type RailAnswer =
  | { readonly kind: 'pending' }
  /** With when the rail acknowledged the payout, by its owner's record; null or absent if it never did. */
  | { readonly kind: 'notFound'; readonly takenOnAtMs?: number | null }
  /** No answer; a rail that turned the question away may say how long it must not be asked again. */
  | { readonly kind: 'unknown'; readonly retryAfterMs?: number }
  /** It can't be asked at all, because something is missing here. */
  | { readonly kind: 'unaskable'; readonly why: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'completed' | 'reversed';
      readonly amount: bigint | 'unreadable' | null;
      readonly fee: bigint | null;
      readonly reason: string | null;
    };

/** A discrepancy: the difference in minor units, and a line without personal data; field and observer as of its kind. */
export interface Finding extends Pick<Observation, 'kind' | 'amount' | 'detail' | 'about' | 'ofReversal'> {
  readonly field?: Field;
  readonly observer?: Observation['observer'];
}

/** A fact published for the owner of the payment to apply. */
export interface RailFact {
  readonly status: EndStatus | 'notFound';
  readonly amount: bigint | null;
  readonly fee: bigint | null;
  readonly reason: string | null;
}

/** The verdict on an answer. */
export interface Verdict {
  readonly fact: RailFact | null;
  /** What differs, whether it is news or not: its break knows. */
  readonly findings: readonly Finding[];
  /** The kinds of what the rail's lookup no longer reports. */
  readonly agreed: readonly BreakKind[];
  /** A callback's claim is neither confirmed nor denied yet, within its allowed lag: the rail is asked again soon. */
  readonly lagging: boolean;
  /** The same after the allowed lag, because the rail gave no answer: it is asked at the usual intervals. */
  readonly undecided: boolean;
}

/** The settings by which answers are judged. */
export interface ProofSettings {
  readonly lagMs: number;
  /** For how long after an answer of the rail its NOT FOUND is not trusted. */
  readonly notFoundGraceMs: number;
  readonly pollsBeforeBreak: number;
}

/** What an answer is judged by. */
export interface Evidence extends ProofSettings {
  readonly tracked: Tracked;
  readonly terms: Terms;
  /** Whether the answer comes from a poll or from a callback that the rail proved. */
  readonly source: 'poll' | 'provenCallback';
  readonly answer: RailAnswer;
  /** Whether the poll was scheduled, and not caused by a callback alone. */
  readonly isScheduled: boolean;
  /** When the rail was asked, or when its callback came. */
  readonly askedAtMs: number;
  /** Null if it is unknown whether our messages arrive: then late ones can't be distinguished from lost ones. */
  readonly arrived: ArrivedTime | null;
}

/** The answer that a rail paid, or reversed the payment. */
export type Paid = Extract<RailAnswer, { readonly kind: 'completed' | 'reversed' }>;

/** The judgement of an answer before claims are considered. */
export type Judged = Pick<Verdict, 'fact' | 'findings'>;

/** Whether the grace time after an answer of the rail is over; never if there was no such answer. */
export function isGraceOver(
  { askedAtMs, notFoundGraceMs }: Pick<Evidence, 'askedAtMs' | 'notFoundGraceMs'>,
  answeredAtMs: number | null,
): boolean {
  return answeredAtMs !== null && askedAtMs - answeredAtMs >= notFoundGraceMs;
}

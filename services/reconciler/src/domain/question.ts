import type { ArrivedTime } from './arrived.ts';
import type { BreakKind } from './break-kinds.ts';
import type { EndStatus } from './claim.ts';
import type { Known, Terms, Tracked } from './tracked.ts';

/** What a rail said of a payment when asked; amounts in minor units, null where it doesn't tell. */
export type RailAnswer =
  | { readonly kind: 'pending' | 'notFound' }
  /** No answer; a rail that turned the question away may name how long it is not to be asked again. */
  | { readonly kind: 'unknown'; readonly retryAfterMs?: number }
  /** It can't be asked at all, for want of something here. */
  | { readonly kind: 'unaskable'; readonly why: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'completed' | 'reversed';
      readonly amount: bigint | 'unreadable' | null;
      readonly fee: bigint | null;
      readonly reason: string | null;
    };

/** A discrepancy that was found: the difference in minor units, and a line without personal data. */
export interface Finding {
  readonly kind: BreakKind;
  readonly amount: bigint | null;
  readonly detail: string;
  /**
   * What of its kind it tells, each in a few words; each is told once, also after people have resolved the break. Absent
   * where the kind says it all.
   */
  readonly about?: readonly string[];
}

/** What goes out on rails.notices for the owner to act on. */
export interface RailFact {
  readonly status: EndStatus | 'notFound';
  readonly amount: bigint | null;
  readonly fee: bigint | null;
  readonly reason: string | null;
}

/** What an answer came to. */
export interface Verdict {
  readonly fact: RailFact | null;
  /** Only what the payment has not opened a break for. */
  readonly findings: readonly Finding[];
  /** A callback's claim is neither borne out nor denied, within its settle time: the rail is asked again soon. */
  readonly settling: boolean;
  /** The same after the settle time, since the rail gave no answer: it is asked on at the usual pauses. */
  readonly unsettled: boolean;
  /** What the breaks of the payment have told before, after this answer. */
  readonly known: readonly Known[];
}

/** What an answer is judged by. */
export interface Question {
  readonly tracked: Tracked;
  readonly terms: Terms;
  /** The rail's fee by its own schedule, in minor units: the only one that a callback may bear out. */
  readonly expectedFee: bigint;
  /** Whether the rail was asked, or said so by a callback that it proved. */
  readonly source: 'poll' | 'provenCallback';
  readonly answer: RailAnswer;
  /** Whether it was asked because its turn had come, not because of a callback alone. */
  readonly isScheduled: boolean;
  /** When the rail was asked, or when its callback came. */
  readonly polledAtMs: number;
  readonly settleMs: number;
  /** How long after an answer of the rail its NOT FOUND is not believed yet. */
  readonly notFoundGraceMs: number;
  readonly pollsBeforeBreak: number;
  /** Null where nobody knows that what we send arrives: then what is late can't be told from what is lost. */
  readonly arrived: ArrivedTime | null;
}

/** The answer that a rail paid, or took it back. */
export type Paid = Extract<RailAnswer, { readonly kind: 'completed' | 'reversed' }>;

/** What an answer comes to before claims are looked at. */
export interface Judged {
  readonly fact: RailFact | null;
  readonly findings: readonly Finding[];
}

/** Whether the grace time after an answer of the rail is over; never where there was no such answer. */
export function isOver(
  { polledAtMs, notFoundGraceMs }: Pick<Question, 'polledAtMs' | 'notFoundGraceMs'>,
  answeredAtMs: number | null,
): boolean {
  return answeredAtMs !== null && polledAtMs - answeredAtMs >= notFoundGraceMs;
}

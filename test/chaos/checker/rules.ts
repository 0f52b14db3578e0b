/**
 * All rules of the checker, each named by its invariant in docs/invariants.md and a word or two; each has a world that
 * violates it.
 */
export const rules = [
  'P1 unreported',
  'P1 left open',
  'P1 ended twice',
  'P2 beginning',
  'P2 version twice',
  'P2 opened twice',
  'P2 another end',
  'P2 another version',
  'P3 refused payment',
  'P3 refused batch',
  'P4 unreadable',
  'P4 never clear',
  'P4 two payments',
  'P4 conflict with itself',
  'P4 batch conflict with itself',
  'P5 reference twice',
  'P5 unrecorded opening',
  'P5 batch and payout',
  'P5 accepted twice',
  'P6 other content',
  'P7 torn batch',
  'P7 missing item',
  'P7 item of no batch',
  'P8 unrecorded',
  'P8 unannounced',
  'P8 unrecorded batch',
  'P9 forgotten',
  'P10 taken twice',
  'P10 too many codes',
  'P10 not asked for',
  'P10 after the end',
  'P11 by timer',
  'P12 failed, executed',
  'P12 released, executed',
  'P12 completed, not executed',
  'P12 reversed, not taken back',
  'P12 completed, taken back',
  'P12 another sum',
  'P13 second end',
  'P14 back in time',
  'P14 early attempt',
  'X1 executed twice',
  'X2 more requests than attempts',
  'X2 request before acceptance',
  'X2 stranger',
  'X3 sent again unasked',
  'X4 wallet moved',
  'L5 missing entry',
  'L5 unpublished entry',
  'L11 missing entry',
  'L13 float',
  'L13 suspense',
  'R1 open, ended there',
  'R2 opened while open',
  'R2 resolved while closed',
  'R2 finalised twice',
  'R3 missing',
  'R3 opened again',
  'R3 unexplained',
  'R3 stranger',
  'R3 drift',
  'W1 owed to nobody',
  'W1 owed twice',
  'W1 undelivered',
  'W1 not received',
  'W2 other bytes',
  'W2 another content',
  'W3 no such end',
  'W3 no delivery',
  'W3 stranger',
  'W4 owed to another',
  'W4 sent to another',
  'books',
] as const;

/** One of them. */
export type Rule = (typeof rules)[number];

/** One rule that does not hold. */
export interface Violation {
  readonly rule: Rule;
  /** Our reference, or the merchant's if there is none of ours. */
  readonly reference: string;
  readonly what: string;
}

/** A broken rule of one payment, before its reference is added. */
export type Finding = readonly [rule: Rule, what: string];

/** Findings of one payment as violations. */
export function violationsOf(reference: string, findings: readonly Finding[]): readonly Violation[] {
  return findings.map(([rule, what]) => ({ rule, reference, what }));
}

/** The invariant that a rule is part of. */
export function invariantOf(rule: Rule): string {
  return rule.slice(0, rule.indexOf(' ') + 1).trimEnd() || rule;
}

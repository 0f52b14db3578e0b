import { expect, it } from 'vitest';
import { type PayoutCommand, type PayoutFact, payoutDecider } from './payout.ts';
import type { PayoutState } from './payout-state.ts';

const GRACE_MS = 30_000;

const observe = (status: PayoutFact['status'], polledAtMs: number): PayoutCommand => ({
  kind: 'observe',
  resubmitGraceMs: GRACE_MS,
  fact: { status, railFee: 5n, reason: 'reported', polledAtMs },
});

const decide = (outcome: 'failed' | 'completed', proposedAtMs: number): PayoutCommand => ({
  kind: 'endByOperators',
  resubmitGraceMs: GRACE_MS,
  decided: { outcome, railFee: 5n, knownAtMs: proposedAtMs, decidedAtMs: proposedAtMs + 1 },
});

const hold: PayoutCommand = { kind: 'confirmHold', nowMs: 1_000 };
const refusal: PayoutCommand = { kind: 'refuseHold', reason: 'Insufficient funds' };

/** A held payout after its claim. */
const claimed = (state: PayoutState, attemptedAtMs: number): PayoutState => ({
  ...state,
  step: 'submitting',
  version: state.version + 1n,
  attempts: state.attempts + 1,
  attemptedAtMs,
});

const applied = (state: PayoutState, command: PayoutCommand): PayoutState => {
  const decision = payoutDecider.decide(command, state);
  return decision.ok ? decision.value.reduce(payoutDecider.evolve, state) : state;
};

const submitting = claimed(applied(payoutDecider.initial, hold), 2_000);
const over = 2_000 + GRACE_MS;

it.each<[string, PayoutState, readonly PayoutCommand[]]>([
  ['a placed hold', payoutDecider.initial, [hold]],
  ['a refused hold', payoutDecider.initial, [refusal]],
  ['an end', submitting, [observe('completed', over)]],
  ['a failure', submitting, [observe('failed', over)]],
  ['a reversal', submitting, [observe('completed', over), observe('reversed', over + 1)]],
  ['a reversal before its end', submitting, [observe('reversed', over)]],
  ['what the rail does not know', submitting, [observe('notFound', over)]],
  ['what people decided', submitting, [decide('failed', over)]],
  ['another decision of theirs', submitting, [decide('failed', over), decide('completed', over + 10)]],
  ['contradictions', submitting, [observe('completed', over), observe('failed', over + 1)]],
])('changes nothing when it is repeated, at once or in the end: %s', (_name, before, commands) => {
  const once = commands.reduce(applied, before);
  expect(once).not.toBe(before);
  expect(commands.reduce(applied, once)).toBe(once);
  expect(commands.flatMap((command) => [command, command]).reduce(applied, before)).toEqual(once);
  // The hold was known before any of the rest.
  expect(applied(once, hold)).toBe(once);
});

it('sends nothing twice because of one answer: it is older than the attempt that it led to', () => {
  const requeued = applied(submitting, observe('notFound', over));
  const again = claimed(requeued, over + 500);
  expect(applied(again, observe('notFound', over))).toBe(again);
});

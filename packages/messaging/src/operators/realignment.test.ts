import { describe, expect, it } from 'vitest';
import { checkPosition, type PositionFacts } from '../inbox/position.ts';
import {
  checkRealignment,
  decideRealignment,
  type PlanRefusal,
  planRealignment,
  type Realignment,
  type RealignTarget,
} from './realignment.ts';

interface Case {
  readonly next?: bigint;
  readonly topicId?: string;
  readonly committed?: bigint;
  readonly low?: bigint;
  readonly partition?: number;
}

function plan({ next, topicId = 'a1', ...more }: Case, to: RealignTarget) {
  const bounds = { topic: 't', partition: 0, topicId: 'a1', low: 10n, high: 100n, committed: undefined };
  const stored = next === undefined ? null : { next, topicId };
  const standing: PositionFacts = { group: 'g', stored, bounds: { ...bounds, ...more }, partitions: 12 };
  return planRealignment(standing, checkPosition(standing), to);
}

describe('a plan', () => {
  const restored = { next: 50n, committed: 80n };
  const lost = { committed: 80n };
  const cut = { next: 4n, committed: 4n };
  const shortened = { next: 120n, committed: 120n };
  const recreated = { next: 50n, topicId: 'b2' };
  it.each<readonly [string, Case, RealignTarget, object]>([
    ['restored, stays', restored, 'stored', { next: 50n, appliedAgain: 30n, skipped: 0n }],
    ['restored, goes back', restored, 20n, { next: 20n, appliedAgain: 60n, skipped: 0n }],
    ['restored, from the start', restored, 'start', { next: 10n, appliedAgain: 70n, skipped: 0n }],
    ['restored, to where Kafka knows us', restored, 80n, { next: 80n, appliedAgain: 0n, skipped: 30n }],
    ['restored, to the end', restored, 'end', { next: 100n, appliedAgain: 0n, skipped: 50n }],
    ['lost, from the start', lost, 'start', { next: 10n, appliedAgain: 70n, skipped: 0n }],
    ['lost, to where Kafka knows us', lost, 80n, { next: 80n, appliedAgain: 0n, skipped: 70n }],
    ['messages removed, from what is left', cut, 'start', { next: 10n, appliedAgain: 0n, skipped: 6n }],
    ['no known position, from what is left', {}, 'start', { next: 10n, appliedAgain: 0n, skipped: 0n }],
    ['log truncated, from the start', shortened, 'start', { next: 10n, appliedAgain: 90n, skipped: 0n }],
    // Messages written since the cut may be new, whatever their offsets.
    ['log truncated, from the end', shortened, 'end', { next: 100n, appliedAgain: 0n, skipped: 90n }],
    ['recreated, from the start', recreated, 'start', { next: 10n, appliedAgain: 0n, skipped: 0n }],
    ['recreated, as in the old one', recreated, 'stored', { next: 50n, appliedAgain: 0n, skipped: 40n }],
  ])('%s', (_name, given, to, expected) => {
    expect(plan(given, to)).toEqual({ ok: true, value: expected });
  });

  it.each<readonly [string, Case, RealignTarget, PlanRefusal]>([
    ['a partition that goes on', { next: 50n, committed: 50n }, 'stored', 'realign.fits'],
    ['an added partition', { partition: 12 }, 'start', 'realign.added'],
    ['a position that there is none of', lost, 'stored', 'realign.nothing_stored'],
    ['messages that are gone', restored, 9n, 'realign.not_kept'],
    ['the stored position that is gone', cut, 'stored', 'realign.not_kept'],
    ['what is to come', restored, 101n, 'realign.beyond_end'],
  ])('refuses %s', (_name, given, to, refusal) => {
    expect(plan(given, to)).toEqual({ ok: false, refusal });
  });
});

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const proposed: Realignment = {
  id: 'g/t/0',
  topicId: 'a1',
  from: 50n,
  next: 100n,
  appliedAgain: 0n,
  skipped: 50n,
  reason: 'chosen by hand',
  requestedBy: 'ama',
  at: day(1),
  status: 'proposed',
};

it('waits for the open proposal, and repeats it', () => {
  expect(checkRealignment(null, proposed)).toEqual({ ok: true, value: 'fresh' });
  expect(checkRealignment(proposed, { ...proposed, at: day(2) })).toEqual({ ok: true, value: 'repeated' });
  const other = { ...proposed, requestedBy: 'kofi', at: day(2) };
  expect(checkRealignment(proposed, other)).toEqual({ ok: false, refusal: 'realign.open' });
  expect(checkRealignment(proposed, { ...other, at: day(8) })).toEqual({ ok: true, value: 'fresh' });
  expect(checkRealignment({ ...proposed, status: 'done' }, other)).toEqual({ ok: true, value: 'fresh' });
});

const seen = { requestedAt: day(1), by: 'kofi', at: day(2) };
const rejection = { ...seen, verdict: 'reject', reason: 'not these' } as const;

it('is decided by another, once', () => {
  const approval = { ...seen, verdict: 'approve' } as const;
  const approved = { ...proposed, status: 'approved', decidedBy: 'kofi', decidedAt: day(2) } as const;
  expect(decideRealignment(proposed, approval)).toEqual({
    ok: true,
    value: { realignment: approved, isFresh: true },
  });
  expect(decideRealignment(approved, approval)).toEqual({
    ok: true,
    value: { realignment: approved, isFresh: false },
  });
  expect(decideRealignment(proposed, { ...approval, by: 'ama' })).toEqual({
    ok: false,
    refusal: 'realign.same_operator',
  });
  expect(decideRealignment(proposed, { ...approval, at: day(8) })).toEqual({
    ok: false,
    refusal: 'realign.expired',
  });
  for (const none of [null, { ...proposed, status: 'done' } as const])
    expect(decideRealignment(none, approval)).toEqual({ ok: false, refusal: 'realign.none' });
  expect(decideRealignment(proposed, { ...rejection, by: 'ama' })).toMatchObject({
    ok: true,
    value: { realignment: { status: 'rejected', decidedBy: 'ama', rejectedFor: 'not these' } },
  });
});

it('is not decided in place of one that was made before, be it by the same operator and to the same message', () => {
  for (const decision of [{ ...seen, verdict: 'approve' } as const, rejection]) {
    expect(decideRealignment(proposed, decision).ok).toBe(true);
    const anew = { ...proposed, from: 20n, skipped: 80n, at: new Date(day(1).getTime() + 1) };
    expect(decideRealignment(anew, decision)).toEqual({ ok: false, refusal: 'realign.changed' });
  }
});

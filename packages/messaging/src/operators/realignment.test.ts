import { describe, expect, it } from 'vitest';
import { checkPosition, type PositionFacts } from '../inbox/position.ts';
import { type PlanRefusal, planRealignment } from './realignment.ts';

interface Case {
  readonly next?: bigint;
  readonly topicId?: string;
  readonly committed?: bigint;
  readonly acceptedCommitted?: bigint;
  readonly low?: bigint;
  readonly partition?: number;
}

function plan({ next, topicId = 'a1', acceptedCommitted, ...more }: Case, isRepaired = false) {
  const bounds = { topic: 't', partition: 0, topicId: 'a1', low: 10n, high: 100n, committed: undefined };
  const stored =
    next === undefined ? null : { next, topicId, ...(acceptedCommitted && { acceptedCommitted }) };
  const standing: PositionFacts = { group: 'g', stored, bounds: { ...bounds, ...more }, partitions: 12 };
  return planRealignment(standing, checkPosition(standing), isRepaired);
}

const restored = { next: 50n, committed: 80n };

describe('a plan', () => {
  it.each<readonly [string, Case, object]>([
    ['lost', { committed: 80n }, { next: 10n, appliedAgain: 70n, skipped: 0n }],
    ['messages removed', { next: 4n, committed: 4n }, { next: 10n, appliedAgain: 0n, skipped: 6n }],
    [
      'messages removed of a repaired database',
      { next: 4n, committed: 30n, acceptedCommitted: 30n },
      { next: 10n, appliedAgain: 20n, skipped: 6n },
    ],
    ['no known position', {}, { next: 10n, appliedAgain: 0n, skipped: 0n }],
    ['log truncated', { next: 120n, committed: 120n }, { next: 10n, appliedAgain: 90n, skipped: 0n }],
    ['recreated', { next: 50n, topicId: 'b2' }, { next: 10n, appliedAgain: 0n, skipped: 0n }],
  ])('begins with what Kafka keeps: %s', (_name, given, expected) => {
    expect(plan(given)).toEqual({ ok: true, value: expected });
  });

  it('of a repaired database goes on where that stands', () => {
    expect(plan(restored, true)).toEqual({ ok: true, value: { next: 50n, appliedAgain: 30n, skipped: 0n } });
  });

  it.each<readonly [string, Case, PlanRefusal]>([
    ['a partition that goes on', { next: 50n, committed: 50n }, 'realign.fits'],
    ['an added partition', { partition: 12 }, 'realign.added'],
    ['a restored database that was not repaired', restored, 'realign.restored'],
  ])('refuses %s', (_name, given, refusal) => {
    expect(plan(given)).toEqual({ ok: false, refusal });
  });
});

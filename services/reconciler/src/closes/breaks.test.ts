import { expect, it } from 'vitest';
import type { Matching, Side } from '../domain/close.ts';
import { awaited } from '../domain/tracked.ts';
import { breaksInMemory } from '../fixtures/breaks.ts';
import { ended, fold, opened } from '../fixtures/verdicts.ts';
import { type CloseFinding, reportsOfRecord } from './breaks.ts';

const ours: Side = { status: 'completed', amount: 10_000n, fee: 50n };
const differences = [{ field: 'status', minor: -10_000n }] as const;
const absent: Matching = { result: 'not_at_rail', differences, theirs: null, why: null };
const failed: Side = { status: 'failed', amount: null, fee: null };
const other: Matching = { result: 'differs', differences, theirs: failed, why: null };

function saying(matching: Matching) {
  const record = { reference: 'po-1', run: '2026-11-20', rail: 'upstream', currency: 'KES' };
  const finding = { record, ours, matching, correctionSent: false, reports: [] } as unknown as CloseFinding;
  return reportsOfRecord(finding, new Date(0));
}

it.each([
  ['another status', absent, other, 'close.differs'],
  ['nothing', other, absent, 'close.not_at_rail'],
] as const)(
  'a close that now finds %s takes back what it said, and the break stays open',
  async (_what, before, now, kind) => {
    const { kept, tell, emitted } = breaksInMemory();
    const payment = fold(awaited('po-1', 0), [opened('payout'), ended('payout', 'completed')]);
    await tell(saying(now), await tell(saying(before), payment));
    expect(kept.get('po-1/status')).toMatchObject({ status: 'open', kind, observations: [{ kind }] });
    expect(emitted).toHaveLength(1);
  },
);

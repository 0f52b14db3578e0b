import { expect, it } from 'vitest';
import { matchRecord, reportsOfRecord, type Side, sideOf } from '../domain/close.ts';
import type { RailAnswer } from '../domain/judging.ts';
import { awaited, type Tracked } from '../domain/tracked.ts';
import { breaksInMemory } from '../fixtures/breaks.ts';
import { ended, fold, opened, terms } from '../fixtures/verdicts.ts';

const close = { tries: 2, triesMax: 5, hasCounted: false, verdict: { fact: null } } as const;
const payment: Tracked = {
  ...fold(awaited('po-1', 0), [opened('payout'), ended('payout', 'completed')]),
  charged: 50n,
};
const agreed = { kind: 'completed', amount: 10_000n, fee: 50n, reason: null } as const;
const absent: RailAnswer = { kind: 'notFound', takenOnAtMs: 1 };
const failed: RailAnswer = { kind: 'failed', reason: 'Declined' };
const otherFee: RailAnswer = { ...agreed, fee: 49n };

/** What a close says by an answer that the rail has given before. */
function saying(answer: RailAnswer) {
  const lastReported: Side = { status: 'completed', amount: 1n, fee: null };
  const question = { ...close, tracked: payment, terms: terms('payout'), answer, lastReported };
  const record = { reference: 'po-1', run: '2026-11-20', rail: 'upstream', currency: 'KES' };
  const matching = matchRecord(question);
  const ours = sideOf(payment, terms('payout'));
  return reportsOfRecord(record, ours, matching, new Date(0));
}

it.each([
  ['another status', absent, failed, 'close.differs'],
  ['nothing', failed, absent, 'close.not_at_rail'],
] as const)(
  'a close that now finds %s takes back what it said, and the break stays open',
  async (_what, before, now, kind) => {
    const { kept, tell, emitted } = breaksInMemory();
    await tell(saying(now), await tell(saying(before), payment));
    expect(kept.get('po-1/status')).toMatchObject({ status: 'open', kind, observations: [{ kind }] });
    expect(emitted).toHaveLength(1);
  },
);

it.each<[string, RailAnswer, 'open' | 'resolved']>([
  ['that the rail does not know the payment', absent, 'open'],
  ['another status', failed, 'open'],
  ['no fee', { ...agreed, fee: null }, 'open'],
  ['another amount', { ...agreed, amount: 9_000n }, 'resolved'],
  ['the same', agreed, 'resolved'],
])(
  'a close that now finds %s takes back another fee only if it compared the fees',
  async (_, now, status) => {
    const { kept, tell } = breaksInMemory();
    await tell(saying(now), await tell(saying(otherFee), payment));
    expect(kept.get('po-1/fee')).toMatchObject({ status });
  },
);

import { describe, expect, it } from 'vitest';
import { brief, capture, entriesIn, float, given, hold, policy, refund } from './posting.fixture.ts';
import { foldInstructions } from './posting.ts';

describe('a batch of instructions', () => {
  it('gives the fee back where the policy says so', () => {
    const folded = foldInstructions(given(0n, 0n, 'captured'), [refund], { refundFee: true });
    expect(entriesIn(folded).map(({ kind, debit, amount }) => [kind, debit, amount])).toEqual([
      ['refund', float, 1_000n],
      ['refundFee', 'feeIncome:KES', 10n],
    ]);
    expect(folded.outcomes[0]).toMatchObject({
      domainEvent: { kind: 'payoutRefunded', amount: 1_000n, fee: 10n },
    });
  });

  it('judges each hold of a batch by what the earlier ones left', () => {
    const holds = [
      hold,
      { ...hold, reference: 'po-2' },
      { ...hold, reference: 'po-3', amount: 5n, fee: 0n },
      hold,
    ];
    const folded = foldInstructions(given(1_500n, 0n), holds, policy);
    expect(folded.outcomes.map(brief)).toEqual(['holdPlaced', 'holdRefused', 'holdPlaced', 'alreadyApplied']);
    expect(folded.wallets.get('demo:KES')?.after).toMatchObject({
      available: 485n,
      held: 1_015n,
      sequence: 9n,
    });
    expect([...folded.holds.values()].map(({ status }) => status)).toEqual(['open', 'refused', 'open']);
  });

  it('leaves the snapshot as it was, so that a rerun starts from the same', () => {
    const snapshot = given(5_000n, 0n);
    foldInstructions(snapshot, [hold, capture], policy);
    expect(snapshot).toEqual(given(5_000n, 0n));
  });
});

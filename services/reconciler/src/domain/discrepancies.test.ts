import { describe, expect, it } from 'vitest';
import type { Break, FoundBreak } from './break.ts';
import { findBreak } from './break-finding.ts';
import type { ReportedDiscrepancy } from './break-kinds.ts';
import { breakKinds } from './break-kinds.ts';
import { changeBreak, concludeAdjustment } from './break-life.ts';
import { correctedBy, differencesOf, fieldPolicies, mergeFindings, placeFinding } from './discrepancies.ts';

const at = new Date(0);

function found(
  kind: string,
  amount: bigint | null = -100n,
  reports?: readonly ReportedDiscrepancy[],
): FoundBreak {
  const about = { reference: 'po-1', currency: 'KES', amount, detail: `found by ${kind}`, openedAt: at };
  return { _id: `po-1/${kind}`, kind, ...about, ...(reports && { reports }) };
}
const fields = (...names: readonly ReportedDiscrepancy['field'][]) =>
  names.map((field): ReportedDiscrepancy => ({ field, amount: -100n }));
const differs = (kind: 'close' | 'statement', ...names: readonly ReportedDiscrepancy['field'][]) =>
  found(`${kind}.differs`, -100n, fields(...names));

/** The break that a finding opened when there was none. */
function opened(finding: FoundBreak, ...others: readonly Break[]): Break {
  const { own } = placeFinding(finding, others);
  if (!own) throw new Error('other breaks cover it');
  return findBreak(own, undefined);
}

/** One finding of every kind that concerns a field of a payment as its rail reports it. */
const ofField = {
  status: [
    found('payment.contradiction'),
    found('close.missing_there'),
    found('statement.missing_there'),
    differs('close', 'status'),
    differs('statement', 'status'),
  ],
  amount: [
    found('payout.amount_differs'),
    found('collection.amount_differs'),
    differs('close', 'amount'),
    differs('statement', 'amount'),
  ],
  fee: [found('callback.fee_differs'), differs('close', 'fee'), differs('statement', 'fee')],
} as const;
const pairs = Object.entries(ofField).flatMap(([field, findings]) =>
  findings.flatMap((one) =>
    findings.filter((other) => other !== one).map((other) => [field, one, other] as const),
  ),
);

describe('the kinds of breaks', () => {
  it('each say which fields of a payment they speak of', () => {
    expect(Object.keys(fieldPolicies).toSorted()).toEqual(Object.keys(breakKinds).toSorted());
  });

  it.each([
    ['payment.contradiction', ['po-1/status']],
    ['callback.denied', ['po-1/status']],
    ['callback.amount_differs', ['po-1/amount']],
    ['callback.fee_differs', ['po-1/fee']],
    ['callback.unknown_reference', ['po-1/existence']],
    ['statement.missing_here', ['po-1/existence']],
    ['books.unposted', []],
    ['wallet.drift', []],
    ['of no kind', []],
  ])('have orders correct them: %s', (kind, corrects) => {
    expect(correctedBy(found(kind))).toEqual(corrects);
  });
});

describe('one discrepancy', () => {
  it.each(pairs)('of the %s opens one break, whichever finds it first: %o, %o', (_field, one, other) => {
    const first = opened(one);
    const { own, others } = placeFinding(other, [first]);
    expect(own).toBeUndefined();
    expect([...others.keys()]).toEqual([one._id]);
  });

  it.each(Object.entries(ofField))('of the %s is not that of another field', (field, findings) => {
    const elsewhere = Object.entries(ofField).filter(([other]) => other !== field);
    for (const first of findings) {
      for (const second of elsewhere.flatMap(([, others]) => others)) {
        if (first._id === second._id) continue;
        expect(placeFinding(second, [opened(first)]).others.size).toBe(0);
      }
    }
  });

  it.each(['collection.amount_differs', 'callback.fee_differs'])(
    'is another where anyone may have claimed it, and by another amount: %s',
    (kind) => {
      const field = kind === 'callback.fee_differs' ? 'fee' : 'amount';
      for (const amount of [-99n, null]) {
        const [claim, line] = [found(kind, amount), differs('statement', field)];
        expect(placeFinding(line, [opened(claim)]).own?.reports).toEqual(fields(field));
        expect(placeFinding(claim, [opened(line)]).own?.kind).toBe(kind);
      }
    },
  );

  it.each(['callback.denied', 'callback.amount_differs', 'callback.unknown_reference'])(
    'is not what is beside it: %s',
    (kind) => {
      const field = differencesOf(found(kind))[0]?.field ?? 'status';
      const line = field === 'existence' ? found('statement.missing_here') : differs('statement', field);
      expect(placeFinding(line, [opened(found(kind))]).own).toBeDefined();
      expect(placeFinding(found(kind), [opened(line)]).own).toBeDefined();
    },
  );

  it('of another payment is another, whatever its reference looks like', () => {
    const other = {
      ...differs('statement', 'fee'),
      reference: 'po-1/fee',
      _id: 'po-1/fee/statement.differs',
    };
    expect(placeFinding(other, [opened(differs('close', 'fee'))]).own).toBeDefined();
  });
});

describe('a finding that other breaks cover in part', () => {
  it('has a break of its own over the rest, with its amount and words', () => {
    const line = found('statement.differs', -100n, [
      { field: 'amount', amount: -100n },
      { field: 'fee', amount: -1n },
    ]);
    const { own, others } = placeFinding(line, [opened(found('payout.amount_differs'))]);
    expect(own).toMatchObject({
      amount: -1n,
      detail: "the rail's statement differs in fee",
      reports: [{ field: 'fee', amount: -1n }],
    });
    expect(others.get('po-1/payout.amount_differs')).toMatchObject({ reports: [{ field: 'amount' }] });
  });

  it('keeps what its own break has, and gives up what it finds no more', () => {
    const first = opened(differs('statement', 'amount', 'fee'));
    expect(placeFinding(differs('close', 'fee'), [first]).own).toBeUndefined();
    const { own } = placeFinding(differs('statement', 'amount'), [first]);
    const later = own && findBreak(own, first);
    expect(later).toMatchObject({ _id: first._id, reports: fields('amount') });
    expect(placeFinding(differs('close', 'fee'), later ? [later] : []).own).toBeDefined();
    expect(later && findBreak({ ...own, coveredKeys: later.coveredKeys ?? [] }, later)).toBe(later);
  });

  it('is one with another of its break', () => {
    const merged = mergeFindings(differs('statement', 'fee'), differs('statement', 'fee', 'status'));
    expect(merged).toMatchObject({
      reports: fields('fee', 'status'),
      detail: "the rail's statement differs in fee and status",
    });
    expect(mergeFindings(merged, differs('statement', 'fee'))).toBe(merged);
  });
});

describe('what an order has corrected', () => {
  const terms = {
    commandId: 'bk-1',
    kind: 'suspense',
    target: 'upstream',
    currency: 'KES',
    minor: -100n,
  } as const;
  const requester = { by: 'ama', at, hasEnded: true };
  const ordered = changeBreak(
    opened(differs('statement', 'fee')),
    { what: 'adjust', terms, explanation: 'x' },
    requester,
  );
  if (!ordered.ok) throw new Error(ordered.refusal);
  const outcome = { commandId: 'bk-1', at, status: 'booked', terms } as const;
  const booked = concludeAdjustment(ordered.value, outcome);

  it('stays with the break that it was ordered for, by whomever it is found again', () => {
    expect(booked).toMatchObject({ status: 'resolved', corrects: ['po-1/fee'] });
    for (const again of [differs('close', 'fee'), differs('statement', 'fee')]) {
      const { own, others } = placeFinding(again, [booked]);
      expect([own, [...others.keys()]]).toEqual([undefined, [booked._id]]);
    }
  });

  it('is news by another amount', () => {
    const other = found('close.differs', -101n, [{ field: 'fee', amount: -101n }]);
    expect(placeFinding(other, [booked]).own).toBeDefined();
  });

  it('belongs to no break once the order is withdrawn or refused', () => {
    const withdrawn = changeBreak(ordered.value, { what: 'withdraw', commandId: 'bk-1' }, requester);
    const refused = concludeAdjustment(ordered.value, {
      ...outcome,
      status: 'refused',
      reason: 'Insufficient funds',
    });
    expect(withdrawn.ok && withdrawn.value.corrects).toBeUndefined();
    expect(refused.corrects).toBeUndefined();
  });

  it('belongs to one break if a withdrawn order is booked in addition to another', () => {
    const late = concludeAdjustment(ordered.value, outcome, new Set(['po-1/fee']));
    expect(late).toMatchObject({ status: 'resolved', adjustments: [{ status: 'booked', reports: [] }] });
    expect(late.corrects).toBeUndefined();
  });
});

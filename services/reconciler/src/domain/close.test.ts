import type { PaymentKind } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { checked, lookedUp, terms } from '../fixtures/verdicts.ts';
import type { EndStatus } from './claim.ts';
import { type CloseEvidence, findingsOf, knownBefore, matchRecord, type Side, sideOf } from './close.ts';
import type { RailAnswer, RailFact } from './judging.ts';
import { awaited, type Tracked } from './tracked.ts';

const ended = (kind: PaymentKind, status: EndStatus | 'open', given: Partial<Tracked> = {}): Tracked => ({
  ...awaited(kind === 'payout' ? 'po-1' : 'co-1', 0),
  terms: terms(kind),
  status,
  ...(kind === 'payout' && status !== 'failed' && { charged: 50n }),
  ...given,
});
const payout = (status: EndStatus | 'open', given?: Partial<Tracked>) => ended('payout', status, given);
const collection = (status: EndStatus, given?: Partial<Tracked>) => ended('collection', status, given);
const paid = (amount: bigint | null, fee: bigint | null, kind: 'completed' | 'reversed' = 'completed') =>
  ({ kind, amount, fee, reason: null }) as const;
const notFound: Side = { status: 'not_found', amount: null, fee: null };
const elsewhere: Side = { status: 'completed', amount: 1n, fee: null };
const refused: RailAnswer = { kind: 'failed', reason: 'Declined' };

function match(
  tracked: Tracked,
  answer: RailAnswer,
  given: Partial<Pick<CloseEvidence, 'tries' | 'lastReported' | 'hasCounted'>> & {
    readonly fact?: RailFact | null;
  } = {},
) {
  const { tries = 2, lastReported = elsewhere, hasCounted = false, fact = null } = given;
  if (!tracked.terms) throw new Error('nothing to match');
  const matching = matchRecord({
    tracked,
    terms: tracked.terms,
    answer,
    verdict: { fact },
    tries,
    triesMax: 5,
    lastReported,
    hasCounted,
  });
  return {
    ...matching,
    opens: findingsOf(matching, sideOf(tracked, tracked.terms)),
  };
}

describe('a payment of a close, once its difference was reported twice', () => {
  it.each<[string, Tracked, RailAnswer]>([
    ['a payout as agreed', payout('completed'), lookedUp],
    ['a payout whose fee the rail does not report', payout('completed'), paid(10_000n, null)],
    [
      'a payout whose fee its owner did not report',
      payout('completed', { charged: null }),
      paid(10_000n, 7n),
    ],
    ['a failed payout', payout('failed'), refused],
    ['a reversed payout', payout('reversed'), paid(10_000n, 50n, 'reversed')],
    [
      'a payout that failed before any rail took it on',
      payout('failed'),
      { kind: 'notFound', takenOnAtMs: null },
    ],
    ['a collection, on its status alone', collection('completed', { received: 9_000n }), checked],
    ['a failed collection', collection('failed'), refused],
  ])('matches: %s', (_name, tracked, answer) => {
    expect(match(tracked, answer)).toMatchObject({ result: 'matched', differences: [], why: null });
    expect(match(tracked, answer).opens).toEqual([]);
  });

  it('never says that an unreported amount matches', () => {
    expect(match(collection('completed'), checked).theirs).toEqual({
      status: 'completed',
      amount: null,
      fee: null,
    });
  });

  it.each<[string, Tracked, RailAnswer, readonly [string, bigint][]]>([
    ['another amount', payout('completed'), paid(10_001n, 50n), [['amount', 1n]]],
    ['another fee', payout('completed'), paid(10_000n, 49n), [['fee', -1n]]],
    [
      'both',
      payout('completed'),
      paid(9_000n, 45n),
      [
        ['amount', -1_000n],
        ['fee', -5n],
      ],
    ],
    ['failed there', payout('completed'), refused, [['status', -10_000n]]],
    ['reversed there', payout('completed'), paid(10_000n, 50n, 'reversed'), [['status', -10_000n]]],
    ['completed there, with its own amount', payout('failed'), paid(10_500n, 50n), [['status', 10_500n]]],
    ['not reversed there', payout('reversed'), lookedUp, [['status', 10_000n]]],
    [
      'a collection that failed there',
      collection('completed', { received: 9_000n }),
      refused,
      [['status', -9_000n]],
    ],
    ['a collection of another amount', collection('completed'), paid(1n, null), [['amount', -9_999n]]],
  ])('differs: %s', (_name, tracked, answer, differences) => {
    const found = match(tracked, answer);
    expect(found).toMatchObject({
      result: 'differs',
      differences: differences.map(([field, minor]) => ({ field, minor })),
    });
    expect(found.opens).toMatchObject(
      differences.map(([field, amount]) => ({ kind: 'close.differs', field, amount })),
    );
  });

  it.each<[string, Tracked, bigint]>([
    ['a completed payout', payout('completed'), -10_000n],
    ['a failed payout that the rail took on', payout('failed'), 0n],
    ['a completed collection', collection('completed', { received: 9_000n }), -9_000n],
  ])('is missing there: %s', (_name, tracked, amount) => {
    const found = match(tracked, { kind: 'notFound', takenOnAtMs: 1 });
    expect(found.result).toBe('not_at_rail');
    expect(found.opens).toMatchObject([{ kind: 'close.not_at_rail', amount }]);
  });
});

describe('what may pass by itself', () => {
  it('is asked again when a difference is reported for the first time', () => {
    const first = { tries: 1, lastReported: null };
    for (const answer of [paid(1n, 50n), refused, { kind: 'notFound' }] as const) {
      expect(match(payout('completed'), answer, first)).toMatchObject({ result: 'pending' });
      expect(match(payout('completed'), answer, first).opens).toEqual([]);
    }
  });

  it.each([5, 6])('is asked again if the first report comes only as answer %i', (tries) => {
    const first = { tries, lastReported: null };
    for (const answer of [paid(1n, 50n), refused, { kind: 'notFound' }, { kind: 'pending' }] as const) {
      const found = match(payout('completed'), answer, first);
      expect(found.result).toBe('pending');
      expect(found.opens).toEqual([]);
      const again = match(payout('completed'), answer, { tries: tries + 1, lastReported: found.theirs });
      expect(again.opens).not.toEqual([]);
    }
  });

  it('is waited for while its owner receives an end, and differs if that does not help', () => {
    const fact = { status: 'reversed', amount: 10_000n, fee: 50n, reason: null } as const;
    const reversed = paid(10_000n, 50n, 'reversed');
    expect(match(payout('completed'), reversed, { fact, tries: 4 }).result).toBe('pending');
    expect(match(payout('completed'), reversed, { fact, tries: 5 }).result).toBe('differs');
    // Judged by the state at the time it is asked for.
    expect(match(payout('reversed'), reversed, { tries: 3 }).result).toBe('matched');
  });

  it('is waited for while the rail says pending', () => {
    expect(match(payout('completed'), { kind: 'pending' }, { tries: 4 }).result).toBe('pending');
    const late = match(payout('completed'), { kind: 'pending' }, { tries: 5 });
    expect(late).toMatchObject({ result: 'differs', differences: [{ field: 'status', minor: -10_000n }] });
  });

  it.each<[string, RailAnswer, Tracked]>([
    ['the rail gave no clear answer', { kind: 'unknown' }, payout('completed')],
    ['no country', { kind: 'unaskable', why: 'no country' }, payout('completed')],
    ['it is open again here', lookedUp, payout('open')],
  ])('is unclear after so many tries, and says why: %s', (why, answer, tracked) => {
    const lastReported = null;
    expect(match(tracked, answer, { tries: 4, lastReported })).toMatchObject({ result: 'pending', why });
    const last = match(tracked, answer, { tries: 5, lastReported });
    expect(last).toMatchObject({ result: 'unclear', why });
    expect(last.opens).toEqual([]);
  });

  it.each<[string, Side, 'differs' | 'not_at_rail', bigint]>([
    ['another amount', { status: 'completed', amount: 9_000n, fee: 50n }, 'differs', -1_000n],
    ['another status', { status: 'failed', amount: null, fee: null }, 'differs', -10_000n],
    ['NOT FOUND', notFound, 'not_at_rail', -10_000n],
  ])('is no reason to drop an earlier report: %s', (_name, lastReported, result, amount) => {
    const difference = { theirs: lastReported, differences: [{ minor: amount }] };
    for (const answer of [{ kind: 'unknown' }, { kind: 'unaskable', why: 'no country' }] as const) {
      expect(match(payout('completed'), answer, { tries: 4, lastReported })).toMatchObject({
        ...difference,
        result: 'pending',
      });
      const last = match(payout('completed'), answer, { tries: 5, lastReported });
      expect(last).toMatchObject({ ...difference, result });
      expect(last.opens).toMatchObject([{ kind: `close.${result}`, amount }]);
    }
  });

  it('is unclear if the earlier report is what we hold by now, or if it is open again', () => {
    const lastReported = { status: 'reversed', amount: 10_000n, fee: 50n } as const;
    for (const status of ['reversed', 'open'] as const) {
      const last = match(payout(status), { kind: 'unknown' }, { tries: 5, lastReported });
      expect(last).toMatchObject({ result: 'unclear', differences: [] });
    }
  });
});

describe('a record that is asked about once more', () => {
  const otherFee: Side = { status: 'completed', amount: 10_000n, fee: 49n };

  it.each<[string, Side, RailAnswer]>([
    ['no clear answer', otherFee, { kind: 'unknown' }],
    ['the same difference', otherFee, paid(10_000n, 49n)],
    ['no clear answer about what it did not know', notFound, { kind: 'unknown' }],
    ['that it still does not know it', notFound, { kind: 'notFound' }],
  ])('keeps its difference if the rail gives %s', (_name, theirs, answer) => {
    const result = theirs === notFound ? 'not_at_rail' : 'differs';
    const again = match(payout('completed'), answer, { tries: 3, ...knownBefore({ result, theirs }) });
    expect(again).toMatchObject({ result, theirs });
    expect(again.opens).toMatchObject([{ kind: `close.${result}` }]);
  });

  it('matches once both have the same', () => {
    const known = knownBefore({ result: 'differs', theirs: otherFee });
    expect(match(payout('completed'), lookedUp, { tries: 3, ...known }).result).toBe('matched');
  });

  it('is asked again if it was unclear and now differs, whatever the rail said earlier', () => {
    const known = knownBefore({ result: 'unclear', theirs: otherFee });
    expect(match(payout('completed'), paid(10_000n, 49n), { tries: 6, ...known }).result).toBe('pending');
  });

  it('has no result yet while its difference was reported once', () => {
    const known = knownBefore({ result: 'pending', theirs: otherFee });
    expect(match(payout('completed'), { kind: 'unknown' }, { tries: 2, ...known }).result).toBe('pending');
    expect(knownBefore({ result: 'pending' })).toEqual({ lastReported: null, hasCounted: false });
  });
});

it('reports each field that differs, with its own amount', () => {
  const both = match(payout('completed'), paid(1n, 49n)).opens;
  const detail = (field: string) => `the rail reports another ${field} than our books`;
  expect(both).toEqual([
    { kind: 'close.differs', field: 'amount', amount: -9_999n, detail: detail('amount') },
    { kind: 'close.differs', field: 'fee', amount: -1n, detail: detail('fee') },
  ]);
  expect(match(payout('completed'), refused).opens).toMatchObject([
    { field: 'status', amount: -10_000n, detail: 'completed here, and the rail says failed' },
  ]);
});

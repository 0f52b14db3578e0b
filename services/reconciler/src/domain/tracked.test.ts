import { describe, expect, it } from 'vitest';
import { terms as termsOf } from '../fixtures/verdicts.ts';
import type { Claim } from './claim.ts';
import { apply, type PaymentObservation } from './observations.ts';
import {
  awaited,
  inFlight,
  needsNoWork,
  openStateOf,
  type Tracked,
  withAnswer,
  withBreaks,
  withoutBreaks,
} from './tracked.ts';

const terms = termsOf('payout');
const opened: PaymentObservation = {
  kind: 'opened',
  name: 'PayoutAccepted',
  version: 1n,
  atMs: 1_000,
  terms,
};
const asked: PaymentObservation = {
  kind: 'asked',
  name: 'PayoutSubmitted',
  version: 4n,
  atMs: 5_000,
  answer: null,
};
const ended = (
  status: 'completed' | 'failed' | 'reversed',
  version: bigint,
  of = terms,
): PaymentObservation => ({
  kind: 'ended',
  name: 'PayoutEnded',
  version,
  atMs: 9_000,
  status,
  terms: of,
});
const origin = { rail: 'upstream', kind: 'payout', proven: false } as const;
const hint = (status: string, of: Partial<Claim> = {}): PaymentObservation => ({
  kind: 'called',
  claim: { ...origin, status, amount: '100', currency: null, fee: '0.5', reason: null, atMs: 6_000, ...of },
});
const posted = (posting: 'capture' | 'refund'): PaymentObservation => {
  return { kind: 'posted', name: 'Entry', posting, moved: null, atMs: 9_500 };
};

const timing = {
  nowMs: 7_000,
  firstPollAfterMs: 30_000,
  booksGraceMs: 60_000,
  lateAfterMs: 30_000,
};

const fold = (...observations: readonly PaymentObservation[]): Tracked =>
  observations.reduce<Tracked>(
    (tracked, observation) => apply(tracked, observation, timing),
    awaited('po-1', 0),
  );

describe('a payment of the working set', () => {
  it('is first polled some time after it was opened, and again after the rail was asked', () => {
    expect(fold(opened)).toMatchObject({ status: 'open', dueAtMs: 31_000 });
    expect(fold(opened, asked)).toMatchObject({ status: 'open', dueAtMs: 35_000 });
  });

  it.each(['payout', 'collection'] as const)(
    'takes the terms of a %s that begins after it has ended',
    (kind) => {
      const own = { ...terms, kind };
      const begun: PaymentObservation = {
        kind: 'opened',
        name: 'Begun',
        version: 1n,
        atMs: 1_000,
        terms: own,
      };
      // The end has no country; and for a collection it has what was received, or nothing.
      const end = ended('completed', 5n, { ...own, country: null, amount: 9_900n, railFee: 49n });
      const late = fold(end, begun);
      const { terms: known, received, status, dueAtMs, version } = fold(begun, end);
      expect(known).toEqual(own);
      expect(late).toMatchObject({ terms: known, received, status, dueAtMs, version });
      // Only once: repeated, it is no news.
      expect(apply(late, begun, timing)).toBe(late);
    },
  );

  it('is due at once by a hint, whenever it comes', () => {
    expect(fold(opened, hint('COMPLETED')).dueAtMs).toBe(7_000);
    expect(fold(hint('COMPLETED'), opened).dueAtMs).toBe(7_000);
    expect(fold(opened, ended('completed', 5n), hint('REVERSED')).dueAtMs).toBe(7_000);
  });

  it('has nothing due once it has ended as every callback claims', () => {
    expect(fold(opened, hint('COMPLETED'), ended('completed', 5n))).toMatchObject({
      status: 'completed',
      dueAtMs: null,
    });
    expect(fold(opened, hint('FAILED'), ended('completed', 5n)).dueAtMs).toBe(7_000);
  });

  it.each([
    ['payout', 'callback.amount_differs'],
    ['collection', 'collection.amount_differs'],
  ] as const)(
    'is looked at once more where a callback of another amount crosses the end of a %s',
    (kind, known) => {
      const own = { ...terms, kind };
      const open = fold(
        { kind: 'opened', name: 'Opened', version: 1n, atMs: 1_000, terms: own },
        hint('COMPLETED', { kind, amount: '99' }),
      );
      const end = (tracked: Tracked) => apply(tracked, ended('completed', 5n, own), timing).dueAtMs;
      expect(end(open)).toBe(7_000);
      expect(end({ ...open, dueAtMs: null })).toBe(7_000);
      expect(end({ ...open, breaks: [known] })).toBeNull();
    },
  );

  it('has when its end was heard of where that was late, and nothing where it was in time', () => {
    const heardAfter = (ms: number) =>
      apply(fold(opened), ended('completed', 5n), { ...timing, nowMs: 9_000 + ms }).endHeardAtMs;
    expect([heardAfter(0), heardAfter(30_000)]).toEqual([null, null]);
    expect(heardAfter(30_001)).toBe(39_001);
  });

  it('is polled once more if it ended otherwise than the rail reported (invariant P13)', () => {
    const endReported = { status: 'completed', sinceMs: 6_000 } as const;
    const reported = { ...fold(opened, asked), dueAtMs: null, endReported };
    const end = (status: 'completed' | 'failed' | 'reversed') =>
      apply(reported, ended(status, 5n), timing).dueAtMs;
    expect(end('failed')).toBe(7_000);
    expect(end('completed')).toBeNull();
    expect(end('reversed')).toBeNull();
  });

  it('does not change when the rail acknowledges a payout that goes straight', () => {
    const accepted: PaymentObservation = { ...asked, answer: 'acknowledged' };
    const open = fold(opened);
    expect(apply(open, accepted, timing)).toBe(open);
    // Its first poll must be no sooner than half of the usual time after that.
    expect(apply(open, { ...accepted, atMs: 16_000 }, timing)).toBe(open);
    expect(apply(open, { ...accepted, atMs: 16_001 }, timing)).toMatchObject({ dueAtMs: 46_001 });
    const hinted = fold(opened, hint('PENDING'));
    expect(apply(hinted, accepted, timing)).toBe(hinted);
    // A replay must not begin its schedule anew.
    const polled = { ...open, polls: 3, pollsInRound: 3, scheduledAtMs: 300_000, dueAtMs: 300_000 };
    expect(apply(polled, accepted, timing)).toBe(polled);
  });

  it('changes when the rail acknowledges a payout whose earlier attempt was unclear', () => {
    const accepted: PaymentObservation = { ...asked, answer: 'acknowledged', version: 5n };
    const due = { version: 5n, dueAtMs: 35_000, pollsInRound: 0 };
    expect(fold(opened, asked, accepted)).toMatchObject(due);
    expect(fold(accepted)).toMatchObject({ version: 5n, status: 'awaited' });
  });

  it('remembers whether the rail refused the newest attempt', () => {
    const refused: PaymentObservation = { ...asked, answer: 'refused', version: 5n, atMs: 6_000 };
    expect(fold(opened, asked)).toMatchObject({ refusedAtMs: null });
    expect(fold(opened, asked, refused)).toMatchObject({ refusedAtMs: 6_000 });
    const later: PaymentObservation = { ...asked, answer: 'acknowledged', version: 6n, atMs: 6_500 };
    expect(fold(opened, asked, refused, later)).toMatchObject({ refusedAtMs: null });
  });

  it('is shown as accepted once the rail has answered a poll that it has it', () => {
    const open = fold(opened);
    const polled = (answer: string) => openStateOf(withAnswer(open, answer, 40_000));
    expect([openStateOf(open), polled('unknown'), polled('pending')]).toEqual([
      'begun',
      'begun',
      'acknowledged',
    ]);
  });

  it('keeps its first answers and the newest, and counts those between', () => {
    let polled = fold(opened);
    for (let poll = 0; poll < 100; poll += 1) {
      const answer = poll % 2 === 0 ? 'pending' : 'unknown';
      polled = withAnswer(withAnswer(polled, answer, poll), answer, poll + 1);
    }
    const { answers } = polled;
    expect(answers).toHaveLength(50);
    const gaps = answers.map(({ notKept = 0 }) => notKept);
    expect([gaps.indexOf(100), gaps.filter((count) => count > 0)]).toEqual([10, [100]]);
    const happened = answers.reduce((sum, { times, notKept = 0 }) => sum + times + notKept, 0);
    expect(happened).toBe(200);
  });

  it('counts an answer that repeats, and adds it where a callback came in between', () => {
    const polled = withAnswer(withAnswer(fold(opened), 'pending', 3_000), 'pending', 5_000);
    expect(polled.answers).toMatchObject([{ times: 2, lastAtMs: 5_000 }]);
    const again = withAnswer(apply(polled, hint('COMPLETED'), timing), 'pending', 7_000);
    expect(again.answers).toMatchObject([{ times: 2 }, { atMs: 7_000, times: 1 }]);
  });

  it('takes no event twice and none out of order', () => {
    const done = fold(opened, asked, ended('completed', 5n));
    expect(fold(opened, asked, ended('completed', 5n), opened, asked, ended('completed', 5n))).toEqual(done);
    expect(fold(opened, ended('completed', 5n), ended('reversed', 6n), ended('completed', 5n)).status).toBe(
      'reversed',
    );
  });

  it.each<[string, PaymentObservation, PaymentObservation, number]>([
    ['payout: submitted before accepted', asked, opened, 35_000],
    [
      'collection: completion requested before initiated',
      { ...asked, name: 'CollectionCompletionRequested', version: 3n },
      { ...opened, name: 'CollectionInitiated', terms: { ...terms, kind: 'collection' } },
      31_000,
    ],
  ])('is tracked though its first event comes late (%s)', (_name, newer, first, dueAtMs) => {
    const late = fold(newer, first);
    expect(late).toEqual(fold(first, newer));
    expect(late).toMatchObject({ status: 'open', dueAtMs });
    expect(fold(newer, first, newer, first)).toEqual(fold(newer, first));
  });

  it('does not open again by a first event that comes after the end', () => {
    expect(fold(ended('completed', 5n), opened)).toEqual(fold(ended('completed', 5n)));
  });

  it.each<[string, PaymentObservation, number]>([
    ['a proven end is judged, not asked about', hint('COMPLETED', { proven: true }), 31_000],
    ['a proven callback without an end makes a poll due', hint('PENDING', { proven: true }), 7_000],
    ['the proof of another rail is a hint', hint('COMPLETED', { proven: true, rail: 'other' }), 7_000],
    ['the proof of another kind is a hint', hint('COMPLETED', { proven: true, kind: 'collection' }), 7_000],
  ])('%s', (_name, called, dueAtMs) => {
    expect(fold(opened, called).dueAtMs).toBe(dueAtMs);
    expect(fold(called, opened).dueAtMs).toBe(dueAtMs);
  });
});

describe('an unknown reference', () => {
  it('is polled at once where it turns up as ended otherwise than the callback claims', () => {
    expect(fold(hint('FAILED'), ended('completed', 5n)).dueAtMs).toBe(7_000);
    expect(fold(hint('COMPLETED'), ended('completed', 5n)).dueAtMs).toBeNull();
  });
});

describe('what is in flight', () => {
  it.each<[string, readonly PaymentObservation[], bigint, bigint]>([
    ['an open payout may have left', [opened], 10_050n, 0n],
    ['a completed one has, until the ledger says so', [opened, ended('completed', 5n)], 10_050n, 0n],
    ['and not after', [opened, ended('completed', 5n), posted('capture')], 0n, 0n],
    ['even where the ledger is heard first', [posted('capture'), opened], 0n, 0n],
    ['a failed one has not', [opened, ended('failed', 5n)], 0n, 0n],
    [
      'a completed one may be back while its rail is asked about it again',
      [opened, ended('completed', 5n), posted('capture'), hint('REVERSED')],
      0n,
      10_000n,
    ],
    ['and a failed one has nothing to come back', [opened, ended('failed', 5n), hint('REVERSED')], 0n, 0n],
    ['a reversal may be back', [opened, posted('capture'), ended('reversed', 6n)], 0n, 10_000n],
    [
      'until the ledger says so',
      [opened, posted('capture'), ended('reversed', 6n), posted('refund')],
      0n,
      0n,
    ],
  ])('%s', (_name, observations, mayDebit, mayCredit) => {
    expect(inFlight(fold(...observations))).toEqual({ mayDebit, mayCredit });
  });

  it('a collection may have come in, less what the rail keeps', () => {
    const collection: PaymentObservation = { ...opened, terms: { ...terms, kind: 'collection' } };
    expect(inFlight(fold(collection))).toEqual({ mayDebit: 0n, mayCredit: 9_950n });
  });

  it('a collection may cost more than it brings, which leaves', () => {
    const small = { ...terms, kind: 'collection', amount: 10n, railFee: 50n } as const;
    expect(inFlight(fold({ ...opened, terms: small }))).toEqual({ mayDebit: 40n, mayCredit: 0n });
  });
});

describe('a payment that is over', () => {
  const over: Tracked = { ...fold(opened, ended('completed', 5n), posted('capture')), dueAtMs: null };

  it('has ended, is borne out by the books, and had no break', () => {
    expect(needsNoWork(over)).toBe(true);
  });

  it.each([
    ['is open', fold(opened)],
    ['is not known', awaited('po-1', 0)],
    ['waits for an entry', fold(opened, ended('completed', 5n))],
    ['is asked about', { ...over, dueAtMs: 1 }],
    ['is held against the books', { ...over, booksDueAtMs: 1 }],
    ['had a break', withoutBreaks(withBreaks(over, ['payment.stuck']), ['payment.stuck'])],
  ] as const)('is none while it %s', (_what, tracked: Tracked) => {
    expect(needsNoWork(tracked)).toBe(false);
  });
});

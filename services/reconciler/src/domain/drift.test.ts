import { describe, expect, it } from 'vitest';
import { judgeLooks, measureDrift, whyExplained } from './drift.ts';
import type { OpenPayment } from './drift-explanation.ts';

const still = { credits: 1_000n, debits: 300n };
const nothing = { mayDebit: 0n, mayCredit: 0n };
const measure = (railBalance: bigint, change: Partial<Parameters<typeof measureDrift>[0]> = {}) =>
  measureDrift({ railBalance, before: still, after: still, inFlight: nothing, ...change });

describe('the drift of a wallet', () => {
  it('is the rail minus our float, signed', () => {
    expect(measure(700n)).toEqual({
      float: 700n,
      drift: 0n,
      lower: 700n,
      upper: 700n,
      withinRange: true,
      finding: 'explained',
      explainedBy: [],
      unexplained: 0n,
    });
    expect(measure(699n)).toMatchObject({ drift: -1n, withinRange: false });
    expect(measure(701n)).toMatchObject({ drift: 1n, withinRange: false });
  });

  it.each([
    [598n, -2n],
    [599n, -1n],
    [600n, 0n],
    [700n, 0n],
    [750n, 0n],
    [751n, 1n],
  ])('of a balance of %s all but %s is what 100 out and 50 in may explain', (railBalance, unexplained) => {
    expect(measure(railBalance, { inFlight: { mayDebit: 100n, mayCredit: 50n } })).toMatchObject({
      unexplained,
      withinRange: unexplained === 0n,
      finding: unexplained !== 0n ? 'out_of_range' : railBalance === 700n ? 'explained' : 'too_many_to_tell',
    });
  });

  it('widens by what was posted while the rail was asked, even where it cancels out', () => {
    const after = { credits: 1_200n, debits: 500n };
    expect(measure(500n, { after })).toMatchObject({
      float: 700n,
      lower: 500n,
      upper: 900n,
      withinRange: true,
    });
    expect(measure(900n, { after }).withinRange).toBe(true);
    expect(measure(499n, { after }).withinRange).toBe(false);
  });
});

describe('a drift within the range of payments in flight', () => {
  const payout = (reference: string, mayDebit: bigint) => ({ reference, mayDebit, mayCredit: 0n });
  const inFlight = (...payments: readonly OpenPayment[]) => ({
    mayDebit: payments.reduce((sum, one) => sum + one.mayDebit, 0n),
    mayCredit: payments.reduce((sum, one) => sum + one.mayCredit, 0n),
    payments,
  });
  const [po1, po2] = [payout('po-1', 100n), payout('po-2', 200n)];
  const co = { reference: 'co-1', mayDebit: 0n, mayCredit: 30n };

  it.each([
    [-100n, ['po-1']],
    [-200n, ['po-2']],
    [-300n, ['po-1', 'po-2']],
    [30n, ['co-1']],
    [-70n, ['po-1', 'co-1']],
    [0n, []],
  ])('of %s is what some of them give, and they are named: %j', (drift, explainedBy) => {
    expect(measure(700n + drift, { inFlight: inFlight(po1, po2, co) })).toMatchObject({
      finding: 'explained',
      explainedBy,
      unexplained: 0n,
    });
  });

  it.each([
    [-40n, 40n],
    [-140n, 40n],
    [-299n, 1n],
    [-1n, 1n],
    // A loss of 70, or of 170 or 270 with what was executed, or a surplus of 30: none of them is known.
    [-70n, 30n],
  ])('of %s is none that any of them give, by %s at least, either way', (drift, unexplained) => {
    expect(measure(700n + drift, { inFlight: inFlight(po1, po2) })).toMatchObject({
      withinRange: true,
      finding: 'unexplained_within_range',
      explainedBy: [],
      unexplained,
    });
  });

  it('is explained by the fewest of them', () => {
    const parts = [payout('po-3', 50n), payout('po-4', 50n), po1];
    expect(measure(600n, { inFlight: inFlight(...parts) }).explainedBy).toEqual(['po-1']);
  });

  it('is told among many of one amount, and not among many of different ones', () => {
    const alike = Array.from({ length: 90 }, (_, index) => payout(`po-${index}`, 7n));
    expect(measure(700n - 70n, { inFlight: inFlight(...alike) }).explainedBy).toHaveLength(10);
    expect(measure(700n - 69n, { inFlight: inFlight(...alike) }).finding).toBe('unexplained_within_range');
    const different = Array.from({ length: 13 }, (_, index) => payout(`po-${index}`, 2n ** BigInt(index)));
    expect(measure(700n - 69n, { inFlight: inFlight(...different) })).toMatchObject({
      finding: 'too_many_to_tell',
      unexplained: 0n,
    });
  });

  it('may have been of the books before or after what was posted meanwhile, and else the books moved', () => {
    const after = { credits: 1_000n, debits: 500n };
    const during = { after, inFlight: inFlight(po1) };
    for (const balance of [700n, 600n, 500n, 400n])
      expect(measure(balance, during).finding).toBe('explained');
    expect(measure(650n, during).finding).toBe('books_moved');
  });

  it('is looked at again after postings that cancel out', () => {
    const after = { credits: 1_100n, debits: 400n };
    expect(measure(650n, { after, inFlight: inFlight(po1) }).finding).toBe('books_moved');
    // What was seen while nothing moved stays, whatever moves in a later look.
    const quiet = { railBalance: 650n, before: still, after: still, inFlight: inFlight(po1) };
    const moving = { ...quiet, after };
    expect(judgeLooks(moving, [quiet])).toMatchObject({
      look: quiet,
      drift: { finding: 'unexplained_within_range' },
    });
  });

  it('is not explained by a payment that began after the rail answered', () => {
    const look = { railBalance: 600n, before: still, after: still, inFlight: inFlight(po2) };
    const newest = { ...look, railBalance: 550n, inFlight: inFlight(po1, po2, payout('po-3', 150n)) };
    expect(judgeLooks(newest, [look]).look).toBe(newest);
    expect(measureDrift(look, newest).finding).toBe('books_moved');
  });
});

describe('several looks at a wallet', () => {
  const look = (railBalance: bigint, change: Partial<Parameters<typeof measureDrift>[0]> = {}) => ({
    railBalance,
    before: still,
    after: still,
    inFlight: nothing,
    ...change,
  });
  const judge = (...looks: readonly ReturnType<typeof look>[]) => {
    const last = looks.at(-1) ?? look(0n);
    const { look: found, drift } = judgeLooks(last, looks.slice(0, -1));
    return { at: looks.indexOf(found), unexplained: drift.unexplained };
  };

  it.each([1n, -1n])('are out by %s where each of them is', (by) => {
    expect(judge(look(700n + by), look(700n + by), look(700n + by))).toEqual({ at: 2, unexplained: by });
    expect(judge(look(700n + by), look(700n), look(700n + by))).toEqual({ at: 1, unexplained: 0n });
  });

  it('take what came back, and was learnt of later, for what it is, though more has come back since', () => {
    const first = look(750n);
    // The first reversal is in flight, or posted, by now; the second is not known anywhere yet.
    const reversed = look(800n, { inFlight: { mayDebit: 0n, mayCredit: 50n } });
    expect(judge(first, reversed)).toEqual({ at: 0, unexplained: 0n });
    const posted = look(800n, { after: { credits: 1_050n, debits: 300n } });
    expect(judge(first, posted)).toEqual({ at: 0, unexplained: 0n });
  });

  it('take no payment that began later for the reason of what was missing before', () => {
    const later = { after: { credits: 1_000n, debits: 400n }, inFlight: { mayDebit: 100n, mayCredit: 0n } };
    expect(judge(look(699n), look(499n, later))).toEqual({ at: 1, unexplained: -1n });
  });

  it('are out where more has come than was ever learnt of', () => {
    const laterLook = look(751n, { inFlight: { mayDebit: 0n, mayCredit: 50n } });
    expect(judge(look(751n), laterLook)).toEqual({ at: 1, unexplained: 1n });
  });
});

describe('what explains a wallet again', () => {
  it.each([
    [{ railBalance: 700n }, "the rail's balance moved by +1 units"],
    [{ float: 699n }, 'our float moved by -1 units'],
    [
      { railBalance: 649n, float: 649n },
      "the rail's balance moved by -50 units, our float moved by -51 units",
    ],
    [{}, 'payments now in flight explain it'],
  ])('is what has moved since: %o', (change, why) => {
    const out = { railBalance: 699n, float: 700n };
    const said = whyExplained(out, { ...out, ...change }, (minor) => `${minor} units`);
    expect(said).toBe(`the wallet is explained again: ${why}`);
  });
});

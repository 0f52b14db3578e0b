import { describe, expect, it } from 'vitest';
import { judgeLooks, measureDrift, type Standing, whyBackInRange } from './drift.ts';

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

describe('what brought a wallet back into its range', () => {
  const out: Standing = { railBalance: 699n, float: 700n, ordered: 500n, unexplained: -1n };
  const cause = (change: Partial<Standing>) =>
    whyBackInRange(out, { ...out, unexplained: 0n, ...change }, (minor) => `${minor} units`);

  it.each([
    [{ railBalance: 700n }, "the rail's balance moved by +1 units"],
    [{ float: 699n }, 'payments moved our float by -1 units'],
    [{ float: 699n, ordered: 499n }, "operators' orders moved our float by -1 units"],
    [
      { railBalance: 649n, float: 649n, ordered: 499n },
      "the rail's balance moved by -50 units, payments moved our float by -50 units, operators' orders moved our float by -1 units",
    ],
    [{}, 'payments now in flight explain it'],
  ])('is found in what has moved since: %o', (change, why) => {
    expect(cause(change)).toBe(`the wallet is back in range: since -1 units was last unexplained, ${why}`);
  });
});

import { describe, expect, it } from 'vitest';
import { measureDrift } from './drift.ts';

const still = { credits: 1_000n, debits: 300n };
const nothing = { mayDebit: 0n, mayCredit: 0n };
const measure = (railBalance: bigint, change: Partial<Parameters<typeof measureDrift>[0]> = {}) =>
  measureDrift({ railBalance, before: still, after: still, inFlight: nothing, ...change });

describe('the drift of a wallet', () => {
  it('is the rail minus our float, signed', () => {
    expect(measure(700n)).toEqual({ float: 700n, drift: 0n, lower: 700n, upper: 700n, withinRange: true });
    expect(measure(699n)).toMatchObject({ drift: -1n, withinRange: false });
    expect(measure(701n)).toMatchObject({ drift: 1n, withinRange: false });
  });

  it.each([
    [599n, false],
    [600n, true],
    [700n, true],
    [750n, true],
    [751n, false],
  ])('a balance of %s is within what 100 out and 50 in may explain: %s', (railBalance, withinRange) => {
    expect(measure(railBalance, { inFlight: { mayDebit: 100n, mayCredit: 50n } })).toMatchObject({
      withinRange,
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

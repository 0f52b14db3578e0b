import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEIGHBOURS_MAX, pairByTime, type Timed } from './statement-pairing.ts';

const MINUTE_MS = 60_000;
const at = (id: string, minute: number): Timed => ({ id, atMs: minute * MINUTE_MS });

/** Judges the line at a position, with its neighbours in order of time, as the walk over both lists does. */
function judge(lines: readonly Timed[], payments: readonly Timed[], place: number) {
  const line = lines[place];
  if (!line) throw new Error('no such line');
  return pairByTime(line, {
    before: lines[place - 1],
    after: lines[place + 1],
    earlier: payments.filter(({ atMs }) => atMs <= line.atMs).slice(-NEIGHBOURS_MAX),
    later: payments.filter(({ atMs }) => atMs > line.atMs).slice(0, NEIGHBOURS_MAX),
  });
}

describe('a line without a reference', () => {
  it.each([
    ['one near', [0], [3], { kind: 'paired', with: 'p0', confidence: 0.9 }],
    ['one near, before it', [5], [0], { kind: 'paired', with: 'p0', confidence: 0.9 }],
    ['one within the hour', [0], [59], { kind: 'paired', with: 'p0', confidence: 0.6 }],
    ['one near and one farther', [0], [1, 30], { kind: 'paired', with: 'p0', confidence: 0.7 }],
    ['one near, and another line farther', [0, 30], [1], { kind: 'paired', with: 'p0', confidence: 0.7 }],
    ['two near', [0], [1, 2], { kind: 'ambiguous', candidates: ['p0', 'p1'] }],
    ['one near that another line is near too', [0, 2], [1], { kind: 'ambiguous', candidates: ['p0'] }],
    ['two within the hour', [0], [20, 40], { kind: 'ambiguous', candidates: ['p0', 'p1'] }],
    ['none within the hour', [0], [61], { kind: 'alone' }],
    ['none at all', [0], [], { kind: 'alone' }],
  ] as const)('with %s', (_, lines, payments, expected) => {
    const found = judge(
      lines.map((minute, index) => at(`l${index}`, minute)),
      payments.map((minute, index) => at(`p${index}`, minute)),
      0,
    );
    expect(found).toEqual(expected);
  });

  it('takes no payment that another line takes, and is paired only with the one payment near it', () => {
    const minutes = fc
      .array(fc.integer({ min: 0, max: 180 }), { maxLength: 12 })
      .map((all) => all.toSorted((one, other) => one - other));
    fc.assert(
      fc.property(minutes, minutes, (lineMinutes, paymentMinutes) => {
        const lines = lineMinutes.map((minute, index) => at(`l${index}`, minute));
        const payments = paymentMinutes.map((minute, index) => at(`p${index}`, minute));
        const taken = lines.flatMap((line, place) => {
          const pairing = judge(lines, payments, place);
          if (pairing.kind !== 'paired') return [];
          const withinMs = pairing.confidence === 0.6 ? 60 * MINUTE_MS : 5 * MINUTE_MS;
          const isNear = (one: Timed, other: Timed) => Math.abs(one.atMs - other.atMs) <= withinMs;
          const partner = payments.find(({ id }) => id === pairing.with) ?? at('', -1_000);
          // Checked against all of them, not only the neighbours.
          expect(payments.filter((one) => isNear(one, line))).toEqual([partner]);
          expect(lines.filter((one) => isNear(one, partner))).toEqual([line]);
          return [pairing.with];
        });
        expect(new Set(taken).size).toBe(taken.length);
      }),
    );
  });
});

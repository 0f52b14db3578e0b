import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { payment, row } from '../fixtures/statement-rows.ts';
import {
  compare,
  matchByReference,
  movedAgain,
  movementOf,
  type NumberedRow,
  type Outcome,
  type StatementPayment,
} from './statement-matching.ts';

describe('a line and its payment', () => {
  it.each([
    ['are the same', {}, {}],
    ['are the same with the fee', { fee: 50n }, {}],
    [
      'failed both, whatever the line says of an amount',
      { status: 'failed', amount: 0n },
      { status: 'failed' },
    ],
    ['are both pending', { status: 'pending' }, { status: 'open' }],
    ['are the same before the payment was reversed', {}, { status: 'reversed' }],
    ['are both reversed', { status: 'reversed' }, { status: 'reversed' }],
    ['are a reversal both', { kind: 'reversal' }, { status: 'reversed' }],
    ['are a reversal recognised by its direction', { kind: 'collection' }, { status: 'reversed' }],
  ] as const)('%s', (_, line, ours) => {
    expect(compare(row(line), payment(ours), 'upstream').result).toBe('matched');
  });

  it.each([
    [{ amount: 9_000n }, {}, ['amount'], -1_000n],
    [{ amount: 9_000n, fee: 49n }, {}, ['amount', 'fee'], -1_000n],
    [{ fee: 75n }, {}, ['fee'], 25n],
    [{ status: 'failed' }, {}, ['status'], -10_000n],
    [{}, { status: 'failed' }, ['status'], 10_000n],
    [{}, { status: 'open' }, ['status'], 10_000n],
    [{ status: 'pending' }, {}, ['status'], -10_000n],
    [{ status: 'reversed' }, {}, ['status'], -10_000n],
    [{ kind: 'reversal' }, {}, ['status'], -10_000n],
    [{ kind: 'collection' }, {}, ['direction'], -10_000n],
    [{ kind: 'reversal', amount: 9_000n }, { status: 'reversed' }, ['amount'], 1_000n],
    [{}, { rail: 'other' }, ['rail'], 0n],
    [{ currency: 'GHS' }, {}, ['currency'], null],
  ] as const)('%o differs from %o in %o', (line, ours, differsIn, difference) => {
    const outcome = compare(row(line), payment(ours), 'upstream');
    const { result, differences = [] } = outcome;
    const named = differences.map(({ field, how }) => how ?? field);
    expect([result, named, differences[0]?.minor]).toEqual(['differs', differsIn, difference]);
  });
});

it('distinguishes money that moved again from the same movement listed twice', () => {
  expect(movedAgain(row({ atMs: 2 }), row())).toBe(false);
  expect(movedAgain(row({ railReference: 'R2' }), row())).toBe(true);
  expect(movedAgain(row({ railReference: null }), row())).toBe(false);
  expect(movedAgain(row(), row({ railReference: null }))).toBe(false);
  expect(movedAgain(row({ railReference: null, atMs: 2 }), row())).toBe(true);
  expect(movedAgain(row({ railReference: 'R2', status: 'failed' }), row())).toBe(false);
});

describe('lines by reference', () => {
  const references = ['po-1', 'po-2', 'po-3', 'po-unknown'];
  const payments = new Map<string, StatementPayment>([
    ['po-1', payment()],
    ['po-2', payment({ reference: 'po-2', status: 'failed' })],
    ['po-3', payment({ reference: 'po-3', status: 'reversed' })],
  ]);
  const lines = fc.array(
    fc.record({
      reference: fc.constantFrom(...references),
      railReference: fc.constantFrom('R1', 'R2', null),
      kind: fc.constantFrom('payout', 'collection', 'reversal', null),
      amount: fc.constantFrom(10_000n, 9_000n, 11_000n),
      status: fc.constantFrom('completed', 'failed', 'reversed', 'pending'),
      fee: fc.constantFrom(50n, 40n, null),
      atMs: fc.constantFrom(1, 2, null),
    }),
    { maxLength: 30 },
  );

  /** Matches as the intake does: batch by batch, each with the result of earlier ones. */
  function match(rows: readonly NumberedRow[], batch: number): ReadonlyMap<string, Outcome> {
    const outcomes = new Map<string, Outcome>();
    for (let from = 0; from < rows.length; from += batch) {
      const held = rows.filter(({ id }) => outcomes.get(id)?.uses !== undefined);
      const found = matchByReference([...held, ...rows.slice(from, from + batch)], payments, 'upstream');
      for (const [id, outcome] of found) outcomes.set(id, outcome);
    }
    return outcomes;
  }

  it('leave a movement to the one that is nearest, wherever it stands', () => {
    const far = { id: 'far', row: row({ amount: 1_000n, atMs: 0 }) };
    const near = { id: 'near', row: row({ amount: 9_900n, atMs: 9 }) };
    for (const rows of [
      [far, near],
      [near, far],
    ]) {
      const outcomes = match(rows, 1);
      expect([outcomes.get('near')?.result, outcomes.get('far')?.result]).toEqual(['differs', 'duplicate']);
    }
  });

  it('have one result each, and each movement one line', () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 10 }), (given, batch) => {
        const rows = given.map((one, at) => ({ id: `${at}`, row: row(one) }));
        const outcomes = match(rows, batch);
        expect([...outcomes.keys()].toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
        const uses = [...outcomes.values()].flatMap((outcome) => outcome.uses ?? []);
        expect(new Set(uses).size).toBe(uses.length);
        for (const { id, row: line } of rows) {
          const ours = payments.get(line.reference ?? '');
          const isReported = ours
            ? uses.includes(movementOf(line, ours))
            : outcomes.get(id)?.result === 'not_in_books';
          expect(isReported).toBe(true);
        }
      }),
    );
  });

  it('come to the same in any order, and by any batch', () => {
    const results = (rows: readonly NumberedRow[], batch: number) => {
      const outcomes = match(rows, batch);
      return rows
        .map(({ id, row: line }) => {
          const { result, differences = [] } = outcomes.get(id) ?? {};
          return JSON.stringify([{ ...line, result, differences }], (_, value: unknown) =>
            typeof value === 'bigint' ? `${value}` : value,
          );
        })
        .toSorted();
    };
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 10 }), fc.nat(), (given, batch, seed) => {
        const rows = given.map((one, at) => ({ id: `${at}`, row: row(one) }));
        const shuffled = rows.toSorted((one, other) => order(one.id, seed) - order(other.id, seed));
        expect(results(shuffled, batch)).toEqual(results(rows, 100));
      }),
    );
  });
});

/** An arbitrary position that does not depend on the line's content. */
function order(id: string, seed: number): number {
  return Math.imul(Number(id) + seed + 1, 2_654_435_761) >>> 0;
}

import { describe, expect, it } from 'vitest';
import { checkWorld } from './check.ts';
import { planted, world } from './planted.fixture.ts';
import type { RailMove } from './world.ts';

describe('the checker', () => {
  it('finds nothing in a world where everything agrees', () => {
    expect(checkWorld(world)).toEqual([]);
  });

  it('knows that a collection whose amount waits for people has moved the rail’s wallet alone', () => {
    const execution: RailMove = {
      atMs: 5_000,
      kind: 'execution',
      operation: 'payin',
      reference: 'co-open',
      amount: 10_000n,
      currency: 'KES',
      outcome: 'COMPLETED',
    };
    const kind = 'collection.amount_differs';
    const undecided = {
      ...world,
      moves: [...world.moves, execution],
      callbacks: [...world.callbacks, { reference: 'co-open', status: 'COMPLETED', amount: 10_001n }],
      breaks: [...world.breaks, { id: `co-open/${kind}`, kind, reference: 'co-open', isOpen: true }],
      purses: world.purses.map((purse) => ({ ...purse, after: purse.after + 9_900n })),
    };
    expect(checkWorld(undecided)).toEqual([]);
    const drifted = undecided.purses.map((purse) => ({ ...purse, float: purse.float + 1n }));
    expect(checkWorld({ ...undecided, purses: drifted })).toMatchObject([{ invariant: 'L12' }]);
  });

  it.each(planted)('%s: %s', (invariant, _what, spoiled) => {
    expect([...new Set(checkWorld(spoiled).map((found) => found.invariant))]).toEqual([invariant]);
  });

  it('knows every rule that it is asked for', () => {
    const numbered = (letter: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${letter}${at + 1}`);
    const rules = [
      ...numbered('P', 14),
      ...numbered('X', 4),
      ...numbered('R', 3),
      ...numbered('W', 4),
      'L12',
    ];
    const shown = new Set(planted.map(([invariant]) => invariant));
    expect(rules.filter((rule) => !shown.has(rule))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { checkWorld } from './check.ts';
import { planted, world } from './planted.fixture.ts';

describe('the checker', () => {
  it('finds nothing in a world where everything agrees', () => {
    expect(checkWorld(world)).toEqual([]);
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

import { describe, expect, it } from 'vitest';
import { checkWorld } from './check.ts';
import { injectedInAcceptance } from './injected-acceptance.fixture.ts';
import { injectedInLives } from './injected-lives.fixture.ts';
import { injectedOutside } from './injected-outside.fixture.ts';
import { invariantOf, rules } from './rules.ts';
import { changed, of, world } from './spoil.fixture.ts';
import type { RailMove } from './world.ts';

const injected = [...injectedInAcceptance, ...injectedInLives, ...injectedOutside];

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
    expect(checkWorld({ ...undecided, purses: drifted })).toMatchObject([{ rule: 'L13 float' }]);
  });

  it('uses the versions of a break, whichever of its events came first', () => {
    const [opened] = world.reconcilerEvents;
    if (!opened) throw new Error('no break was opened');
    const resolved = { ...opened, id: 'ev-3', type: 'resolved', version: opened.version + 1n } as const;
    expect(checkWorld({ ...world, reconcilerEvents: [resolved, ...world.reconcilerEvents] })).toEqual([]);
    const older = { ...resolved, version: 0n };
    expect(checkWorld({ ...world, reconcilerEvents: [...world.reconcilerEvents, older] })).toMatchObject([
      { rule: 'R2 resolved while closed' },
    ]);
  });

  it('knows that a collection whose customer never confirmed it may stay open', () => {
    const unconfirmed = {
      ...changed('payments', of('co-open'), { flow: 'otp', content: '10000 KES 1234' }),
      calls: world.calls.map((call) =>
        call.reference === 'm-co-open' ? { ...call, content: '10000 KES 1234' } : call,
      ),
    };
    expect(checkWorld(unconfirmed)).toEqual([]);
  });

  it('knows that one clear answer among unclear ones is enough, in whatever order they came', () => {
    const [call] = world.calls;
    if (!call) throw new Error('a world without calls');
    const unclear = { ...call, outcome: 'ambiguous' as const, ours: null, endedAtMs: call.endedAtMs - 1 };
    expect(checkWorld({ ...world, calls: [...world.calls, unclear] })).toEqual([]);
  });

  it('names a world whose ledger has no entries', () => {
    const found = checkWorld({ ...world, entries: [] }).map(({ rule }) => rule);
    expect(new Set(found)).toEqual(new Set(['L5 missing entry', 'L11 missing entry']));
  });

  it.each(injected)('%s: %s', (rule, _what, spoiled) => {
    const found = checkWorld(spoiled).map((one) => one.rule);
    expect(found).toContain(rule);
    expect([...new Set(found.map(invariantOf))]).toEqual([invariantOf(rule)]);
  });

  it('is seen to say everything that it may say', () => {
    const shown = new Set(injected.map(([rule]) => rule));
    expect(rules.filter((rule) => !shown.has(rule))).toEqual([]);
  });

  it('knows every invariant that it is asked for', () => {
    const numbered = (letter: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${letter}${at + 1}`);
    const asked = [
      ...numbered('P', 14),
      ...numbered('X', 4),
      ...numbered('R', 3),
      ...numbered('W', 4),
      'L13',
    ];
    const known = new Set(rules.map(invariantOf));
    expect(asked.filter((invariant) => !known.has(invariant))).toEqual([]);
  });
});

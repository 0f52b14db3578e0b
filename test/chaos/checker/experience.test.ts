import { describe, expect, it } from 'vitest';
import { missedBy } from './experience.ts';
import { createWorld } from './world.fixture.ts';
import type { World } from './world.ts';

const world = createWorld();
const intent = { payouts: 5, collections: 3, kills: 1 };
const kills = [{ service: 'ledger', before: 7, after: 8 }];

describe('what a run has been through', () => {
  it('is enough if payments were accepted, executed and reported, and killed processes came back', () => {
    expect(missedBy(world, intent, kills)).toEqual([]);
  });

  it.each<readonly [what: string, spoiled: Partial<World>]>([
    ['payouts accepted', { calls: world.calls.filter(({ api }) => api !== 'payout') }],
    ['collections accepted', { calls: world.calls.filter(({ api }) => api !== 'collection') }],
    ['executions by the rail', { moves: world.moves.filter(({ kind }) => kind !== 'execution') }],
    ['callbacks stored', { callbacks: [] }],
    ['webhooks received', { received: [] }],
  ])('is not enough without: %s', (what, spoiled) => {
    expect(missedBy({ ...world, ...spoiled }, intent, kills)).toMatchObject([expect.stringContaining(what)]);
  });

  it('is not enough where every request was ambiguous', () => {
    const calls = world.calls.map((call) => ({ ...call, outcome: 'ambiguous' as const }));
    const nothing = { ...world, calls, payments: [], moves: [], callbacks: [], received: [] };
    expect(missedBy(nothing, intent, kills).length).toBeGreaterThan(3);
  });

  it('is not enough where nothing was killed, or what was killed did not come back', () => {
    expect(missedBy(world, intent, [])).toEqual([
      'processes killed: 0, not 1',
      'processes started again: 0, not 1',
    ]);
    expect(missedBy(world, intent, [{ service: 'ledger', before: 7, after: 7 }])).toEqual([
      'processes started again: 0, not 1',
    ]);
  });
});
